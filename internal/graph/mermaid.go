package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// Mermaid returns the tree as a flowchart that GitHub and GitLab can draw in Markdown.
func (g Graph) Mermaid() string {
	t := g.tree()
	var b strings.Builder
	fmt.Fprintf(&b, "flowchart LR\n  root([%s])\n", quoteMermaid(t.heading()))
	classes := map[Kind]bool{}
	for _, n := range t.nodes {
		lines := append([]string{join(n.name, n.number()), join(n.Source, n.Version)}, markLines(n.Marks)...)
		fmt.Fprintf(&b, "  n%d[%s]%s\n", n.id, quoteMermaid(lines...), classOf(n.Marks, classes))
	}
	for _, n := range t.nodes {
		fmt.Fprintf(&b, "  %s --> n%d\n", idOf(n.parent), n.id)
	}
	ids := t.ids()
	for i, provider := range t.Providers {
		lines := append([]string{provider.Name, provider.Version}, markLines(provider.Marks)...)
		fmt.Fprintf(&b, "  p%d{{%s}}%s\n", i, quoteMermaid(lines...), classOf(provider.Marks, classes))
		for _, key := range provider.RequiredBy {
			if id, ok := ids[key]; ok {
				fmt.Fprintf(&b, "  %s -.-> p%d\n", idOf(id), i)
			}
		}
	}
	for _, w := range words {
		if classes[w.kind] {
			fmt.Fprintf(&b, "  classDef %s stroke:%s,stroke-width:3px\n", w.kind, colors[w.tone])
		}
	}
	return b.String()
}

// classOf returns the suffix that gives a node its class, and records the class as used.
func classOf(marks []Mark, used map[Kind]bool) string {
	kind := kindOf(marks)
	if kind == "" {
		return ""
	}
	used[kind] = true
	return ":::" + string(kind)
}

// quoteMermaid returns the non-empty lines as a label. Characters that can have a meaning in
// Mermaid, Markdown or HTML are written as numeric entities, which begin with "#" in Mermaid.
func quoteMermaid(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		if line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("<br/>")
		}
		for _, r := range line {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ./-,:=_", r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	return `"` + b.String() + `"`
}
