package graph

import (
	"fmt"
	"strings"
)

// Text returns the tree for a terminal, with marks in brackets.
func (g Graph) Text() string {
	t := g.tree()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.heading())
	writeBranches(&b, t.roots, "")
	if len(t.packages) > 0 {
		b.WriteString("\n")
	}
	for i, ids := range t.packages {
		fmt.Fprintf(&b, "#%d is one package, used by %s\n", i+1, t.keys(ids))
	}
	if len(t.Providers) > 0 {
		b.WriteString("\nproviders\n")
	}
	for i, provider := range t.Providers {
		fmt.Fprintf(&b, "%s%s", joint(i, len(t.Providers)), join(provider.Name, provider.Version, inParentheses(provider.Constraints), brackets(provider.Marks)))
		if len(provider.RequiredBy) > 0 {
			fmt.Fprintf(&b, "  required by %s", requiredIn(provider.RequiredBy))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s\n", t.summary())
	return b.String()
}

func writeBranches(b *strings.Builder, nodes []*node, indent string) {
	for i, n := range nodes {
		line := n.name
		if about := join(n.Source, n.Version, n.number()); about != "" {
			line += "  " + about
		}
		if marks := brackets(n.Marks); marks != "" {
			line += "  " + marks
		}
		fmt.Fprintf(b, "%s%s%s\n", indent, joint(i, len(nodes)), line)
		below := "│   "
		if i == len(nodes)-1 {
			below = "    "
		}
		writeBranches(b, n.children, indent+below)
	}
}

func joint(i, n int) string {
	if i == n-1 {
		return "└── "
	}
	return "├── "
}

// number returns the number of a package that several modules use, such as "#1", or "".
func (n *node) number() string {
	if n.shared == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", n.shared)
}

func (t *tree) keys(ids []int) string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = t.nodes[id].Key
	}
	return listed(keys)
}

func brackets(marks []Mark) string {
	texts := make([]string, len(marks))
	for i, m := range marks {
		texts[i] = "[" + m.String() + "]"
	}
	return strings.Join(texts, " ")
}

// inParentheses returns a text in parentheses, or "" if it is empty.
func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// join joins the non-empty texts with spaces.
func join(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text != "" && b.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString(text)
	}
	return b.String()
}
