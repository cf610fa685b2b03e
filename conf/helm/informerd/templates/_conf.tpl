{{/* informerd.conf: `config` of the values, with what follows from the mode. */}}

{{- define "informerd.conf" -}}
{{- $conf := deepCopy .Values.config -}}
{{- if hasKey $conf "state_dir" }}{{ fail "config.state_dir is set by the chart: remove it" }}{{ end -}}
{{- if and (hasKey $conf "replica") (ne .Values.mode "replicas") }}{{ fail "config.replica needs mode: replicas" }}{{ end -}}
{{- if (get $conf "socket" | default dict).path }}{{ fail "config.socket.path is set by the chart: remove it" }}{{ end -}}
{{- if (get $conf "http" | default dict).listen }}{{ fail "config.http.listen is set by the chart: use http.address and http.port" }}{{ end -}}
{{- $_ := set $conf "state_dir" "/var/lib/informerd" -}}
{{- $_ := set $conf "socket" (merge (dict "path" "/run/informerd/informerd.sock") (get $conf "socket" | default dict)) -}}
{{- $_ := set $conf "http" (merge (dict "listen" (printf "%s:%v" .Values.http.address .Values.http.port)) (get $conf "http" | default dict)) -}}
{{- if not $conf.clusters }}{{ $_ := set $conf "clusters" (list (dict "name" .Values.clusterName)) }}{{ end -}}
{{- if eq .Values.mode "replicas" -}}
{{- $replica := dict "group" (include "informerd.group" .) "cluster" .Values.clusterName "namespace" .Release.Namespace -}}
{{- $_ := set $conf "replica" (merge $replica (get $conf "replica" | default dict) (dict "mode" "leader")) -}}
{{- end -}}
{{- if eq .Values.mode "daemonset" }}{{ $_ := unset $conf "event_logs" }}{{ end -}}
{{ toYaml $conf }}
{{- end }}

{{/* The name of the Lease. */}}
{{- define "informerd.group" -}}
{{ .Values.replicas.group | default (include "informerd.fullname" .) }}
{{- end }}
