{{/* The pod of every mode. */}}

{{- define "informerd.pod" -}}
{{- $daemonset := eq .Values.mode "daemonset" -}}
metadata:
  labels:
    {{- include "informerd.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "informerd.conf" . | sha256sum }} # a changed configuration replaces the pods
    kubectl.kubernetes.io/default-container: informerd
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "informerd.serviceAccount" . }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- $security := deepCopy .Values.podSecurityContext }}
    {{- if $daemonset }}{{ $_ := set $security "runAsGroup" (int64 .Values.daemonset.gid) }}{{ end }}
    {{- toYaml $security | nindent 4 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- $tolerations := .Values.tolerations }}
  {{- if and $daemonset (not $tolerations) }}{{ $tolerations = list (dict "operator" "Exists") }}{{ end }}
  {{- with $tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.affinity }}
  affinity:
    {{- toYaml .Values.affinity | nindent 4 }}
  {{- else if eq .Values.mode "replicas" }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                {{- include "informerd.selector" . | nindent 16 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if and $daemonset .Values.daemonset.prepareDirectory }}
  initContainers:
    - name: socket-directory # kubelet creates it for root
      image: {{ include "informerd.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [/usr/bin/chown, "{{ int64 .Values.podSecurityContext.runAsUser }}:{{ int64 .Values.daemonset.gid }}", /run/informerd]
      securityContext:
        runAsUser: 0
        runAsNonRoot: false
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL], add: [CHOWN]}
      resources:
        requests: {cpu: 10m, memory: 16Mi}
        limits: {memory: 32Mi}
      volumeMounts:
        - {name: run, mountPath: /run/informerd}
  {{- end }}
  containers:
    - name: informerd
      image: {{ include "informerd.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [-c, /etc/informerd/informerd.conf]
      env:
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        - name: NODE_NAME # for config, such as field_selector: "spec.nodeName=${NODE_NAME}"
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: http, containerPort: {{ .Values.http.port }}, protocol: TCP}
      livenessProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/informerd, readOnly: true}
        - {name: state, mountPath: /var/lib/informerd}
        - {name: run, mountPath: /run/informerd}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "informerd.fullname" . }}}
    - name: run
      {{- if $daemonset }}
      hostPath: {path: {{ .Values.daemonset.hostPath }}, type: DirectoryOrCreate}
      {{- else }}
      emptyDir: {medium: Memory, sizeLimit: 1Mi}
      {{- end }}
    {{- if or $daemonset (not .Values.persistence.enabled) }}
    - name: state
      emptyDir: {sizeLimit: {{ .Values.persistence.size }}}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
