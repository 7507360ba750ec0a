package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// colors are visible on light and dark backgrounds.
var colors = map[string]string{"bad": "#d1242f", "gone": "#8250df", "note": "#bf8700", "new": "#1a7f37"}

type box struct {
	id, tooltip string
	lines       []string
	kind        Kind // of the most serious mark, "" without marks
	color       string
	provider    bool
}

func (t *tree) boxes() []box {
	var all []box
	for _, n := range t.nodes {
		number := ""
		if n.shared > 0 {
			number = fmt.Sprintf("#%d", n.shared)
		}
		all = append(all, newBox(box{id: idOf(n.id), tooltip: n.Key, lines: []string{joined(" ", n.name, number), joined(" ", n.Source, n.Version)}}, n.Marks))
	}
	for i, p := range t.Providers {
		all = append(all, newBox(box{id: fmt.Sprintf("p%d", i), tooltip: p.Name, lines: []string{p.Name, p.Version}, provider: true}, p.Marks))
	}
	return all
}

func newBox(b box, marks []Mark) box {
	for _, m := range marks {
		b.lines = append(b.lines, m.String())
	}
	for _, k := range kinds {
		if b.kind == "" && hasKind(marks, k.Kind) {
			b.kind, b.color = k.Kind, colors[k.Tone]
		}
	}
	return b
}

// arrow is a call, or the requirement of a provider.
type arrow struct {
	from, to string
	requires bool
}

func (t *tree) arrows() []arrow {
	var all []arrow
	ids := map[string]string{"": idOf(-1)}
	for _, n := range t.nodes {
		ids[n.Key] = idOf(n.id)
		all = append(all, arrow{idOf(n.parent), idOf(n.id), false})
	}
	for i, p := range t.Providers {
		for _, use := range p.Uses {
			a := arrow{ids[use.Key], fmt.Sprintf("p%d", i), true}
			if a.from != "" && !slices.Contains(all[len(t.nodes):], a) {
				all = append(all, a)
			}
		}
	}
	return all
}

func idOf(id int) string {
	if id < 0 {
		return "root"
	}
	return fmt.Sprintf("n%d", id)
}

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
	for _, box := range t.boxes() {
		shape, style := "", ""
		if box.provider {
			shape = "shape=component "
		}
		if box.color != "" {
			style = fmt.Sprintf(" color=%q penwidth=2", box.color)
		}
		if box.kind == Removed || box.kind == Missing {
			style += ` style="rounded,dashed"`
		}
		fmt.Fprintf(&b, "  %s [%slabel=%s tooltip=%s%s]\n", box.id, shape, quoteDOT(box.lines...), quoteDOT(box.tooltip), style)
	}
	for _, a := range t.arrows() {
		style := ""
		if a.requires {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s\n", a.from, a.to, style)
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText escapes what Graphviz interprets between quotation marks, which includes entities such as &lt;.
var dotText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)

func quoteDOT(lines ...string) string {
	var texts []string
	for _, line := range lines {
		texts = append(texts, dotText.Replace(line))
	}
	return `"` + joined(`\n`, texts...) + `"`
}

// Mermaid returns a flowchart that GitHub and GitLab can draw in Markdown.
func (g Graph) Mermaid() string {
	t := g.tree()
	var b strings.Builder
	fmt.Fprintf(&b, "flowchart LR\n  root([%s])\n", quoteMermaid(t.heading()))
	classes := map[Kind]string{}
	for _, box := range t.boxes() {
		begin, end, class := "[", "]", ""
		if box.provider {
			begin, end = "{{", "}}"
		}
		if box.kind != "" {
			class, classes[box.kind] = ":::"+string(box.kind), box.color
		}
		fmt.Fprintf(&b, "  %s%s%s%s%s\n", box.id, begin, quoteMermaid(box.lines...), end, class)
	}
	for _, a := range t.arrows() {
		line := "-->"
		if a.requires {
			line = "-.->"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", a.from, line, a.to)
	}
	for _, k := range kinds {
		if color, used := classes[k.Kind]; used {
			fmt.Fprintf(&b, "  classDef %s stroke:%s,stroke-width:3px\n", k.Kind, color)
		}
	}
	return b.String()
}

// quoteMermaid writes characters with a meaning in Mermaid, Markdown or HTML as numeric entities, which begin
// with "#" there.
func quoteMermaid(lines ...string) string {
	var texts []string
	for _, line := range lines {
		var b strings.Builder
		for _, r := range line {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ./-,:=_", r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
		texts = append(texts, b.String())
	}
	return `"` + joined("<br/>", texts...) + `"`
}
