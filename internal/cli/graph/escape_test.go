package graph_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/cli/graph"
)

var (
	// mermaidLine matches the lines of a flowchart. In labels, characters with a meaning in
	// Mermaid occur only as entities.
	mermaidLine = regexp.MustCompile(`^(flowchart LR|  (root|[np][0-9]+)(\(\[|\[|\{\{)"([\pL\p{Nd} ./,:=_-]|#[0-9]+;|<br/>)*"(\]\)|\]|\}\})(:::[a-z]+)?|  (root|n[0-9]+) (-->|-\.->) [np][0-9]+|  classDef [a-z]+ stroke:#[0-9a-f]{6},stroke-width:3px)$`)
	// dotLine matches the lines of a graph for Graphviz. Quotation marks in strings are escaped.
	dotLine = regexp.MustCompile(`^(digraph modules \{|\}|  (rankdir=LR|labelloc=t|fontname="sans-serif")|  label=` + dotString + `|  (node|edge|root|[np][0-9]+) \[([a-z]+=([a-z0-9.]+|` + dotString + `) ?)*\]|  (root|n[0-9]+) -> [np][0-9]+( \[style=dashed\])?)$`)
)

const dotString = `"([^"\\]|\\[\\"n])*"`

// TestEscapes shows how each format writes special texts.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, plain, dot, mermaid string }{
		{"network", "network", `"network"`, `"network"`},
		{"1.2.3", "1.2.3", `"1.2.3"`, `"1.2.3"`},
		{`a"b`, `a"b`, `"a\"b"`, `"a#34;b"`},
		{`a\b`, `a\b`, `"a\\b"`, `"a#92;b"`},
		{`\N`, `\N`, `"\\N"`, `"#92;N"`},
		{"<b>", "<b>", `"<b>"`, `"#60;b#62;"`},
		{"&lt;", "&lt;", `"&amp;lt;"`, `"#38;lt#59;"`},
		{"a#b;", "a#b;", `"a#b;"`, `"a#35;b#59;"`},
		{"`a`", "`a`", "\"`a`\"", `"#96;a#96;"`},
		{"a\nb", `a\nb`, `"a\\nb"`, `"a#92;nb"`},
		{"\x1b[2J", `\x1b[2J`, `"\\x1b[2J"`, `"#92;x1b#91;2J"`},
		{"\u202eab", `\u202eab`, `"\\u202eab"`, `"#92;u202eab"`},
		{"\xff", `\xff`, `"\\xff"`, `"#92;xff"`},
		{"Größe", "Größe", `"Größe"`, `"Größe"`},
	} {
		g := graph.Graph{Title: "x", Modules: []graph.Module{{Key: test.text}}}
		for _, want := range []struct{ in, text string }{
			{g.Text(false), "└── " + test.plain + "\n"},
			{g.DOT(), "n0 [label=" + test.dot + " "},
			{g.Mermaid(), "n0[" + test.mermaid + "]\n"},
		} {
			if !strings.Contains(want.in, want.text) {
				t.Errorf("%q is not written as %q:\n%s", test.text, want.text, want.in)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, m := range hostile().Modules {
		f.Add(m.Key, m.Source)
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		g := graph.Graph{
			Title: text, Old: text, New: text,
			Modules:   []graph.Module{{Key: key, Source: text, Version: text, Package: text, Marks: []graph.Mark{{Kind: graph.Updated, Text: text}}}, {Key: text, Package: text}},
			Providers: []graph.Provider{{Name: text, Uses: []graph.Use{{Key: key}, {Key: text}}}},
		}
		for name, render := range formats {
			if name == "tree.txt" {
				continue // modules can be nested
			}
			rendered, err := render(g)
			if err == nil {
				err = checkRendered(name, rendered, 2, 1)
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, rendered)
			}
		}
	})
}
