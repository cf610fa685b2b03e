{{/* informerd.conf: `config` of the values, with what follows from the mode. */}}

{{- define "informerd.conf" -}}
{{- $conf := deepCopy .Values.config -}}
{{- range list "state_dir" "replica" -}}
{{- if hasKey $conf . }}{{ fail (printf "config.%s is set by the chart: remove it" .) }}{{ end -}}
{{- end -}}
{{- if (get $conf "socket" | default dict).path }}{{ fail "config.socket.path is set by the chart: remove it" }}{{ end -}}
{{- if (get $conf "http" | default dict).listen }}{{ fail "config.http.listen is set by the chart: use http.address and http.port" }}{{ end -}}
{{- $_ := set $conf "state_dir" "/var/lib/informerd" -}}
{{- $_ := set $conf "socket" (merge (dict "path" "/run/informerd/informerd.sock") (get $conf "socket" | default dict)) -}}
{{- $_ := set $conf "http" (merge (dict "listen" (printf "%s:%v" .Values.http.address .Values.http.port)) (get $conf "http" | default dict)) -}}
{{- if not $conf.clusters }}{{ $_ := set $conf "clusters" (list (dict "name" .Values.clusterName)) }}{{ end -}}
{{- if eq .Values.mode "replicas" -}}
{{- $_ := set $conf "replica" (dict "group" (include "informerd.group" .) "mode" "leader" "cluster" .Values.clusterName "namespace" .Release.Namespace) -}}
{{- end -}}
{{- if eq .Values.mode "daemonset" }}{{ $_ := unset $conf "event_logs" }}{{ end -}}
{{ toYaml $conf }}
{{- end }}

{{/* The name of the Lease. */}}
{{- define "informerd.group" -}}
{{ .Values.replicas.group | default (include "informerd.fullname" .) }}
{{- end }}
