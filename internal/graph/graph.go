// Package graph draws the module tree of a configuration: as text, for Graphviz, for
// Mermaid, as an SVG picture, and as an HTML page. It reads no files and uses no network.
//
// Keys, sources and versions come from configurations and locks, which other people write.
// No renderer lets them be anything but text: control characters and those that change the
// direction of text are escaped first, and each format then escapes by its own syntax.
// Identifiers in the output are numbers that the renderer assigns.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/sanitize"
)

// Graph is a module tree, and what there is to say about it.
type Graph struct {
	// Title names the root module.
	Title string
	// Old and New name the locks that are compared; "" if none are.
	Old, New string
	// Modules are all modules but the root module. A module is below the one with the
	// longest key that is part of its own: "a.b" is below "a".
	Modules   []Module
	Providers []Provider
}

// Module is one module call.
type Module struct {
	// Key is the call's path with dots.
	Key string `json:"key"`
	// Source and Version are as in the lock; Version is "" if the source has none.
	Source  string `json:"source,omitempty"`
	Version string `json:"version,omitempty"`
	// Package is the same for modules in the same fetched package; "" for modules that are
	// part of their callers.
	Package string `json:"package,omitempty"`
	// File and Line are where the call is.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Provider is one provider, and the keys of the modules that require it; "" is the root
// module.
type Provider struct {
	Name       string   `json:"name"`
	Version    string   `json:"version,omitempty"`
	RequiredBy []string `json:"required_by,omitempty"`
	Marks      []Mark   `json:"marks,omitempty"`
}

// Kind is what a mark is about.
type Kind string

// The kinds of marks.
const (
	// Outdated has the newest version as its text.
	Outdated Kind = "outdated"
	// Moved says what the origin has instead of what the lock has.
	Moved Kind = "moved"
	// Changed says which installed files are not those of the lock.
	Changed Kind = "changed"
	// Missing is a module that is not installed, or cannot be read.
	Missing Kind = "missing"
	// Unlocked is a module that is installed, and that the lock does not have.
	Unlocked Kind = "unlocked"
	// Problem is anything else that is wrong with an entry of the lock.
	Problem Kind = "problem"

	// Added, Removed, Updated, Content and Relocked are what differs between two locks:
	// the entry as a whole, its version, its content under the same version, or the rest.
	Added    Kind = "added"
	Removed  Kind = "removed"
	Updated  Kind = "updated"
	Content  Kind = "content"
	Relocked Kind = "relocked"
)

// words are what people read for a kind, and the class of its colour; the gravest first.
var words = []struct {
	kind       Kind
	text, tone string
}{
	{Changed, "changed", "bad"},
	{Moved, "moved", "bad"},
	{Content, "OTHER CONTENT", "bad"},
	{Problem, "problem", "bad"},
	{Missing, "missing", "gone"},
	{Unlocked, "not in the lock", "gone"},
	{Removed, "removed", "gone"},
	{Outdated, "outdated", "note"},
	{Updated, "updated", "note"},
	{Relocked, "lock changed", "note"},
	{Added, "added", "new"},
}

// colors are the colours of tones in formats that do not know the background: they can be
// seen on a light one and on a dark one.
var colors = map[string]string{"bad": "#d1242f", "gone": "#8250df", "note": "#bf8700", "new": "#1a7f37"}

// tone is the class of a kind's colour; "" for other text.
func (k Kind) tone() string {
	for _, w := range words {
		if w.kind == k {
			return w.tone
		}
	}
	return ""
}

func (k Kind) word() string {
	for _, w := range words {
		if w.kind == k {
			return w.text
		}
	}
	return string(k)
}

// Mark is one thing to notice about a module or a provider.
type Mark struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
}

// String is the mark on one line.
func (m Mark) String() string {
	if m.Text == "" {
		return m.Kind.word()
	}
	return m.Kind.word() + ": " + m.Text
}

// node is a module in its place.
type node struct {
	Module
	id int
	// parent is the id of the module above, -1 for the root module, and name the key
	// below that.
	parent   int
	name     string
	depth    int
	children []*node
	// shared is the number of a package that several modules are in, counted from 1; 0
	// for other packages.
	shared int
}

// place is a graph with its modules in their places.
type place struct {
	Graph
	nodes []*node // in the order of a tree: a module is followed by those below it
	roots []*node
	// packages are the packages that several modules are in, as the modules' ids.
	packages [][]int
}

// arrange puts the modules in their places, with all text printable.
func (g Graph) arrange() *place {
	p := &place{Graph: g.printable()}
	slices.SortStableFunc(p.Modules, func(a, b Module) int { return strings.Compare(sortKey(a.Key), sortKey(b.Key)) })
	var above []*node
	users := map[string][]int{}
	for id, m := range p.Modules {
		for len(above) > 0 && !strings.HasPrefix(m.Key, above[len(above)-1].Key+".") {
			above = above[:len(above)-1]
		}
		n := &node{Module: m, id: id, parent: -1, name: m.Key, depth: len(above)}
		if len(above) == 0 {
			p.roots = append(p.roots, n)
		} else {
			parent := above[len(above)-1]
			n.parent, n.name = parent.id, m.Key[len(parent.Key)+1:]
			parent.children = append(parent.children, n)
		}
		above = append(above, n)
		p.nodes = append(p.nodes, n)
		if m.Package != "" {
			users[m.Package] = append(users[m.Package], id)
		}
	}
	for _, n := range p.nodes {
		if ids := users[n.Package]; len(ids) > 1 && ids[0] == n.id {
			p.packages = append(p.packages, ids)
			for _, id := range ids {
				p.nodes[id].shared = len(p.packages)
			}
		}
	}
	return p
}

// sortKey has the order of keys by their parts: a module is followed by those below it.
func sortKey(key string) string { return strings.ReplaceAll(key, ".", "\x00") }

// printable returns a copy without characters that act on a terminal, hide, or are not
// allowed in XML.
func (g Graph) printable() Graph {
	g.Title, g.Old, g.New = sanitize.Escape(g.Title), sanitize.Escape(g.Old), sanitize.Escape(g.New)
	g.Modules = slices.Clone(g.Modules)
	for i := range g.Modules {
		m := &g.Modules[i]
		for _, text := range []*string{&m.Key, &m.Source, &m.Version, &m.Package, &m.File} {
			*text = sanitize.Escape(*text)
		}
		m.Marks = printableMarks(m.Marks)
	}
	g.Providers = slices.Clone(g.Providers)
	for i := range g.Providers {
		p := &g.Providers[i]
		p.Name, p.Version, p.Marks = sanitize.Escape(p.Name), sanitize.Escape(p.Version), printableMarks(p.Marks)
		p.RequiredBy = slices.Clone(p.RequiredBy)
		for j := range p.RequiredBy {
			p.RequiredBy[j] = sanitize.Escape(p.RequiredBy[j])
		}
	}
	return g
}

func printableMarks(marks []Mark) []Mark {
	marks = slices.Clone(marks)
	for i := range marks {
		marks[i].Text = sanitize.Escape(marks[i].Text)
	}
	return marks
}

// kindOf returns the kind that gives a node its colour: the gravest of its marks; "" if it
// has none.
func kindOf(marks []Mark) Kind {
	for _, w := range words {
		if slices.ContainsFunc(marks, func(m Mark) bool { return m.Kind == w.kind }) {
			return w.kind
		}
	}
	return ""
}

// summary counts the modules and the marks: "5 modules; 1 outdated, 2 changed".
func (p *place) summary() string {
	counts := map[Kind]int{}
	for _, n := range p.nodes {
		for i, m := range n.Marks {
			if !slices.ContainsFunc(n.Marks[:i], func(before Mark) bool { return before.Kind == m.Kind }) {
				counts[m.Kind]++
			}
		}
	}
	text := count(len(p.nodes), "module")
	if len(p.Providers) > 0 {
		text += ", " + count(len(p.Providers), "provider")
	}
	separator := "; "
	for _, w := range words {
		if n := counts[w.kind]; n > 0 {
			word := w.text
			if w.kind == Problem && n > 1 {
				word += "s"
			}
			text += fmt.Sprintf("%s%d %s", separator, n, word)
			separator = ", "
		}
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// heading names the configuration, or the locks that are compared.
func (p *place) heading() string {
	if p.Old == "" {
		return p.Title
	}
	return fmt.Sprintf("%s: %s -> %s", p.Title, p.Old, p.New)
}

// requiredIn names the modules that require a provider: "the root module, app and 3 more".
func requiredIn(keys []string) string {
	named := make([]string, len(keys))
	for i, key := range keys {
		if named[i] = key; key == "" {
			named[i] = "the root module"
		}
	}
	return listed(named)
}

// maxListed is how many names a line lists.
const maxListed = 6

// listed joins names, and counts those beyond the first few.
func listed(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed-1], ", "), len(names)-maxListed+1)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
