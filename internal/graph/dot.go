package graph

import (
	"fmt"
	"strings"
)

// DOT returns the tree in the language of Graphviz.
func (g Graph) DOT() string {
	t := g.tree()
	var b strings.Builder
	fmt.Fprintf(&b, `digraph modules {
  rankdir=LR
  label=%s
  labelloc=t
  fontname="sans-serif"
  node [shape=box style=rounded fontname="sans-serif" fontsize=11]
  edge [arrowsize=0.6]
  root [label=%s style="rounded,bold"]
`, quoteDOT(t.summary()), quoteDOT(t.heading()))
	for _, n := range t.nodes {
		lines := append([]string{join(n.name, n.number()), join(n.Source, n.Version)}, markLines(n.Marks)...)
		fmt.Fprintf(&b, "  n%d [label=%s tooltip=%s%s]\n", n.id, quoteDOT(lines...), quoteDOT(n.Key), styleDOT(n.Marks))
	}
	for _, n := range t.nodes {
		fmt.Fprintf(&b, "  %s -> n%d\n", idOf(n.parent), n.id)
	}
	ids := t.ids()
	for i, provider := range t.Providers {
		lines := append([]string{provider.Name, provider.Version}, markLines(provider.Marks)...)
		fmt.Fprintf(&b, "  p%d [shape=component label=%s%s]\n", i, quoteDOT(lines...), styleDOT(provider.Marks))
		for _, key := range provider.RequiredBy {
			if id, ok := ids[key]; ok {
				fmt.Fprintf(&b, "  %s -> p%d [style=dashed]\n", idOf(id), i)
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// ids returns the ids of the modules by key. The id of the root module is -1.
func (t *tree) ids() map[string]int {
	ids := map[string]int{"": -1}
	for _, n := range t.nodes {
		ids[n.Key] = n.id
	}
	return ids
}

// idOf returns the identifier of the module with an id. -1 is the root module.
func idOf(id int) string {
	if id < 0 {
		return "root"
	}
	return fmt.Sprintf("n%d", id)
}

func markLines(marks []Mark) []string {
	lines := make([]string, len(marks))
	for i, m := range marks {
		lines[i] = m.String()
	}
	return lines
}

func styleDOT(marks []Mark) string {
	color := colors[kindOf(marks).tone()]
	if color == "" {
		return ""
	}
	style := fmt.Sprintf(" color=%q penwidth=2", color)
	if kindOf(marks) == Removed || kindOf(marks) == Missing {
		style += ` style="rounded,dashed"`
	}
	return style
}

// dotText escapes text in quotation marks: a backslash begins an escape there, and Graphviz
// interprets entities such as &lt; in labels.
var dotText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)

// quoteDOT returns the non-empty lines as one quoted string.
func quoteDOT(lines ...string) string {
	var texts []string
	for _, line := range lines {
		if line != "" {
			texts = append(texts, dotText.Replace(line))
		}
	}
	return `"` + strings.Join(texts, `\n`) + `"`
}
