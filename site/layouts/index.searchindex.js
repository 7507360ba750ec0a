{{- /* The sections of all pages: [page, heading, address, text]. */ -}}
{{- $sections := slice -}}
{{- $labels := dict -}}
{{- range .Site.Params.groups }}{{ range .pages }}{{ $labels = merge $labels (dict (index . 0) (index . 1)) }}{{ end }}{{ end -}}
{{- range .Site.RegularPages -}}
{{- $file := path.Base .RelPermalink -}}
{{- $title := index $labels (path.BaseName .RelPermalink) | default (partial "title.html" .) -}}
{{- range $i, $part := split (replaceRE `<(h[1-6]) id=` "\x00<$1 id=" .Content) "\x00" -}}
{{- $heading := index (findRE `(?s)^<h[1-6] .*?</h[1-6]>` $part 1) 0 | default "" -}}
{{- if $heading -}}
{{- $id := replaceRE `(?s)^<h[1-6] id="([^"]*)".*$` "$1" $heading -}}
{{- $text := substr $part (len $heading) | plainify | htmlUnescape -}}
{{- $address := cond (hasPrefix $heading "<h1") $file (printf "%s#%s" $file $id) -}}
{{- $sections = $sections | append (slice (slice (trim $title "\n ") ($heading | plainify | htmlUnescape) $address (trim (replaceRE `\s+` " " $text) " "))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
const searchIndex = {{ $sections | jsonify | safeJS }};
