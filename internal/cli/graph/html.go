package graph

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"strings"
)

var (
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

type pageModule struct {
	Module
	Name   string `json:"name"`
	Parent int    `json:"parent"`
	Shared int    `json:"shared,omitempty"`
}

// HTML returns a page that needs no other files and no network.
func (g Graph) HTML() (string, error) {
	t := g.tree()
	data, err := t.pageJSON()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	// The policy contains the hashes of this style and this script, so no others are used.
	b.WriteString(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + sourceHash(pageStyle) + `; script-src ` + sourceHash(pageScript) + `; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Modules of ` + html.EscapeString(t.heading()) + `</title>
<style>` + pageStyle + `</style>
</head>
<body>
<header>
<h1>` + html.EscapeString(t.Title) + `</h1>
`)
	if t.Old != "" {
		b.WriteString(`<p class="compared">` + html.EscapeString(t.Old) + ` → ` + html.EscapeString(t.New) + "</p>\n")
	}
	b.WriteString(`<p class="summary">` + html.EscapeString(t.summary()) + `</p>
<noscript><pre>` + html.EscapeString(g.Text(true)) + `</pre></noscript>
</header>
<div id="app"></div>
<script type="application/json" id="data">` + data + `</script>
<script>` + pageScript + `</script>
</body>
</html>
`)
	return b.String(), nil
}

// sourceHash is a source expression of a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageJSON relies on the encoder to escape <, > and &, so that no text can end the script element.
func (t *tree) pageJSON() (string, error) {
	modules, providers := []pageModule{}, []Provider{}
	for _, n := range t.nodes {
		m := n.Module
		m.Marks = labeled(m.Marks)
		modules = append(modules, pageModule{Module: m, Name: n.name, Parent: n.parent, Shared: n.shared})
	}
	for _, p := range t.Providers {
		p.Marks = labeled(p.Marks)
		providers = append(providers, p)
	}
	// Packages are those that several modules use, as lists of indexes of modules.
	text, err := json.Marshal(map[string]any{"title": t.Title, "modules": modules, "providers": providers, "packages": t.packages, "kinds": kinds})
	return string(text), err
}

func labeled(marks []Mark) []Mark {
	list := make([]Mark, len(marks))
	for i, m := range marks {
		list[i] = Mark{m.Kind, m.String()}
	}
	return list
}
