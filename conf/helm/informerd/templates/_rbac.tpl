{{/* The permissions for the configuration, as `informerd rbac` prints them. Without a server only the plural names of the core
group are known, so that all other resources need their group. */}}

{{- define "informerd.core" -}}
configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services
{{- end }}

{{/* Resources with a group whose columns the local API knows: it needs no definitions of them. */}}
{{- define "informerd.builtin" -}}
customresourcedefinitions.apiextensions.k8s.io controllerrevisions.apps daemonsets.apps deployments.apps replicasets.apps statefulsets.apps horizontalpodautoscalers.autoscaling cronjobs.batch jobs.batch leases.coordination.k8s.io endpointslices.discovery.k8s.io events.events.k8s.io ingressclasses.networking.k8s.io ingresses.networking.k8s.io networkpolicies.networking.k8s.io poddisruptionbudgets.policy clusterrolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io roles.rbac.authorization.k8s.io priorityclasses.scheduling.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io
{{- end }}

{{/* Of `deployments.apps/v1`: deployments.apps */}}
{{- define "informerd.resource" -}}
{{- $name := regexReplaceAll "/.*$" . "" -}}
{{- if and (not (contains "." $name)) (not (has $name (splitList " " (include "informerd.core" .)))) -}}
{{- fail (printf "config.watches: resource '%s': write the plural name with its group, as in deployments.apps/v1; or set rbac.create to false" .) -}}
{{- end -}}
{{- if regexMatch "^[^.]+[.]v[0-9]+((alpha|beta)[0-9]+)?([.]|$)" $name -}}
{{- fail (printf "config.watches: resource '%s': write name.group/version, as in deployments.apps/v1" .) -}}
{{- end -}}
{{ $name }}
{{- end }}

{{/* Rules for a list of resources, one for each group. */}}
{{- define "informerd.rules" -}}
{{- $groups := dict -}}
{{- range . -}}
{{- $name := splitList "." . | first -}}
{{- $group := trimPrefix $name . | trimPrefix "." -}}
{{- $_ := set $groups $group (append (get $groups $group | default list) $name | uniq) -}}
{{- end -}}
{{- range $group, $names := $groups }}
- apiGroups: [{{ $group | quote }}]
  resources: [{{ $names | sortAlpha | join ", " }}]
  verbs: [list, watch]
{{- end -}}
{{- end }}

{{/* All permissions, as YAML: `cluster`, the resources in all namespaces; `namespaces`, those in single ones by their names; and
`definitions`, of custom resources. Only watches of the cluster in which informerd runs count. */}}
{{- define "informerd.grants" -}}
{{- $cluster := list -}}{{- $definitions := list -}}{{- $by := dict -}}{{- $root := . -}}
{{- $builtin := splitList " " (include "informerd.builtin" .) -}}
{{- range .Values.config.watches -}}
{{- if or (not .cluster) (eq .cluster $root.Values.clusterName) -}}
{{- $resource := include "informerd.resource" .resource -}}
{{- if .namespaces -}}
{{- range .namespaces }}{{ $_ := set $by . (append (get $by . | default list) $resource) }}{{ end -}}
{{- else -}}
{{- $cluster = append $cluster $resource -}}
{{- if or .exclude_namespaces .namespace_selector }}{{ $cluster = append $cluster "namespaces" }}{{ end -}}
{{- end -}}
{{- if and (contains "." $resource) (not (has $resource $builtin)) }}{{ $definitions = append $definitions $resource | uniq }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $namespaces := dict -}}
{{- range $name, $resources := $by -}}
{{- $left := list -}}
{{- range $resources }}{{ if not (has . $cluster) }}{{ $left = append $left . }}{{ end }}{{ end -}}
{{- if $left }}{{ $_ := set $namespaces $name ($left | uniq) }}{{ end -}}
{{- end -}}
{{ dict "cluster" ($cluster | uniq) "namespaces" $namespaces "definitions" $definitions | toYaml }}
{{- end }}

{{- define "informerd.subjects" -}}
- kind: ServiceAccount
  name: {{ include "informerd.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
