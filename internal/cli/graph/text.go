package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Text returns the tree for a terminal: below each module those that it calls and the providers that it
// requires, with marks in brackets, and for places with the constraints and the places of the calls.
func (g Graph) Text(places bool) string {
	t := g.tree()
	var b strings.Builder
	b.WriteString(".\n")
	t.writeBranches(&b, "", t.roots, "", places)
	return b.String()
}

func (t *tree) writeBranches(b *strings.Builder, key string, nodes []*node, indent string, places bool) {
	providers := t.requiredBy(key, places)
	for i, n := range nodes {
		joint, below := "├── ", "│   "
		if i == len(nodes)-1 && len(providers) == 0 {
			joint, below = "└── ", "    "
		}
		at := ""
		if places {
			at = inParentheses(n.Constraint, n.Place)
		}
		line := joined("  ", n.name, joined(" ", n.Source, n.Version), at, n.Confirmed, brackets(n.Marks))
		fmt.Fprintf(b, "%s%s%s\n", indent, joint, line)
		t.writeBranches(b, n.Key, n.children, indent+below, places)
	}
	for i, line := range providers {
		joint := "├── "
		if i == len(providers)-1 {
			joint = "└── "
		}
		fmt.Fprintf(b, "%s%sprovider %s\n", indent, joint, line)
	}
}

// requiredBy returns lines for providers. Those that no module requires are the root module's.
func (t *tree) requiredBy(key string, places bool) []string {
	var list []string
	for _, p := range t.Providers {
		var uses []string
		found := key == "" && len(p.Uses) == 0
		for _, use := range p.Uses {
			text := use.Constraint
			if places {
				text = joined(", ", use.Constraint, use.Place, use.By)
			}
			if found = found || use.Key == key; use.Key == key && !slices.Contains(uses, text) {
				uses = append(uses, text)
			}
		}
		separator := ", "
		if places {
			separator = "; "
		}
		if found {
			list = append(list, joined("  ", joined(" ", p.Name, p.Version, inParentheses(joined(separator, uses...))), p.Confirmed, brackets(p.Marks)))
		}
	}
	return list
}

func brackets(marks []Mark) string {
	texts := make([]string, len(marks))
	for i, m := range marks {
		texts[i] = "[" + m.String() + "]"
	}
	return strings.Join(texts, " ")
}

func inParentheses(texts ...string) string {
	if text := joined(", ", texts...); text != "" {
		return "(" + text + ")"
	}
	return ""
}

func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" }), separator)
}
