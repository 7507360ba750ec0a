// Package graph draws the module tree of a configuration as text, for Graphviz, for Mermaid, as
// an SVG picture, and as an HTML page. It reads no files and uses no network.
//
// Keys, sources and versions come from configurations and locks that may be written by other
// people. Every renderer outputs them only as text. Control characters and characters that change
// the direction of text are escaped first, and then each renderer escapes the text by the syntax
// of its format. Identifiers in the output are numbers that the renderer assigns.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/sanitize"
)

// Graph is a module tree with marks on its modules and providers. It is also the output of the
// command graph in JSON: the comments of the fields are shown in docs/json.schema.json.
type Graph struct {
	// Title is the name of the root module's directory.
	Title string `json:"title"`
	// Old is the name of the older of two compared locks.
	Old string `json:"old,omitempty"`
	// New is the name of the newer of two compared locks.
	New string `json:"new,omitempty"`
	// Modules are the modules of the tree except the root module, and those that only the old
	// lock has. The parent of a module is the module with the longest key that is a prefix of its
	// own, in whole parts: "a" is the parent of "a.b".
	Modules   []Module   `json:"modules"`
	Providers []Provider `json:"providers,omitempty"`
}

// Module is a module in the output of graph.
type Module struct {
	// Key is the path of the call, separated by dots.
	Key    string `json:"key"`
	Source string `json:"source,omitempty"`
	// Version is absent if the source has no versions.
	Version string `json:"version,omitempty"`
	// Constraint is the version constraint of the call, if it has one.
	Constraint string `json:"constraint,omitempty"`
	// Package is the address of the fetched package. Modules in one package have the same
	// address here. It is absent for modules in their callers' packages.
	Package string `json:"package,omitempty"`
	// File and Line are the position of the call.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Provider is a provider in the output of graph.
type Provider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Constraints are the constraints of all modules together.
	Constraints string `json:"constraints,omitempty"`
	// RequiredBy are the keys of the modules that require it; "" is the root module.
	RequiredBy []string `json:"required_by,omitempty"`
	// Requirements are the places where modules require it.
	Requirements []Requirement `json:"requirements,omitempty"`
	Marks        []Mark        `json:"marks,omitempty"`
}

// Requirement is a requirement of a provider in the output of graph.
type Requirement struct {
	// Key is the key of the module; "" is the root module.
	Key        string `json:"key"`
	Constraint string `json:"constraint,omitempty"`
	// By is what requires the provider, such as "required_providers".
	By   string `json:"by,omitempty"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Kind is the kind of a mark.
type Kind string

// The kinds of marks.
const (
	// Outdated means that there is a newer version; the text is the newest version.
	Outdated Kind = "outdated"
	// Moved means that the origin differs from the lock; the text is what the origin has.
	Moved Kind = "moved"
	// Changed means that installed files differ from the lock; the text names the files.
	Changed Kind = "changed"
	// Missing means that the module is not installed or cannot be read.
	Missing Kind = "missing"
	// Unlocked means that the module is installed, but the lock has no entry for it.
	Unlocked Kind = "unlocked"
	// Problem is any other problem with an entry of the lock.
	Problem Kind = "problem"

	// Added, Removed, Updated, Content and Relocked are differences between two locks: in the
	// whole entry, in its version, in the content of the same version, or in anything else.
	Added    Kind = "added"
	Removed  Kind = "removed"
	Updated  Kind = "updated"
	Content  Kind = "content"
	Relocked Kind = "relocked"
)

// words are the texts of the kinds and the classes of their colors, most serious first.
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

// colors are the colors of the classes in formats that do not know the background. They are
// visible on light and dark backgrounds.
var colors = map[string]string{"bad": "#d1242f", "gone": "#8250df", "note": "#bf8700", "new": "#1a7f37"}

// tone returns the class of a kind's color, or "" for an unknown kind.
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

// Mark is something to note about a module or a provider.
type Mark struct {
	// Kind is "changed", "moved", "missing", "unlocked", "problem", "outdated", or in a
	// comparison "added", "removed", "updated", "content" or "relocked".
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
}

// String returns the mark as one line.
func (m Mark) String() string {
	if m.Text == "" {
		return m.Kind.word()
	}
	return m.Kind.word() + ": " + m.Text
}

// node is a module in the tree.
type node struct {
	Module
	id int
	// parent is the id of the parent, or -1 for the root module. name is the part of the key below
	// the parent.
	parent   int
	name     string
	depth    int
	children []*node
	// shared is the number, counted from 1, of a package that several modules use. It is 0 for
	// other packages.
	shared int
}

// tree is a graph with its modules as nodes of a tree.
type tree struct {
	Graph
	nodes []*node // in the order of the tree: a module is followed by its descendants
	roots []*node
	// packages are the packages that several modules use, as lists of module ids.
	packages [][]int
}

// tree returns the modules as a tree, with all text made printable.
func (g Graph) tree() *tree {
	t := &tree{Graph: g.printable()}
	slices.SortStableFunc(t.Modules, func(a, b Module) int { return strings.Compare(sortKey(a.Key), sortKey(b.Key)) })
	var above []*node
	users := map[string][]int{}
	for id, m := range t.Modules {
		for len(above) > 0 && !strings.HasPrefix(m.Key, above[len(above)-1].Key+".") {
			above = above[:len(above)-1]
		}
		n := &node{Module: m, id: id, parent: -1, name: m.Key, depth: len(above)}
		if len(above) == 0 {
			t.roots = append(t.roots, n)
		} else {
			parent := above[len(above)-1]
			n.parent, n.name = parent.id, m.Key[len(parent.Key)+1:]
			parent.children = append(parent.children, n)
		}
		above = append(above, n)
		t.nodes = append(t.nodes, n)
		if m.Package != "" {
			users[m.Package] = append(users[m.Package], id)
		}
	}
	for _, n := range t.nodes {
		if ids := users[n.Package]; len(ids) > 1 && ids[0] == n.id {
			t.packages = append(t.packages, ids)
			for _, id := range ids {
				t.nodes[id].shared = len(t.packages)
			}
		}
	}
	return t
}

// sortKey returns a text that sorts keys by their parts, so that a module is followed by its
// descendants.
func sortKey(key string) string { return strings.ReplaceAll(key, ".", "\x00") }

// printable returns a copy in which characters are escaped that control a terminal, are
// invisible, or are not allowed in XML.
func (g Graph) printable() Graph {
	g.Title, g.Old, g.New = sanitize.Escape(g.Title), sanitize.Escape(g.Old), sanitize.Escape(g.New)
	g.Modules = slices.Clone(g.Modules)
	for i := range g.Modules {
		m := &g.Modules[i]
		for _, text := range []*string{&m.Key, &m.Source, &m.Version, &m.Constraint, &m.Package, &m.File} {
			*text = sanitize.Escape(*text)
		}
		m.Marks = printableMarks(m.Marks)
	}
	g.Providers = slices.Clone(g.Providers)
	for i := range g.Providers {
		p := &g.Providers[i]
		p.Name, p.Version, p.Constraints, p.Marks = sanitize.Escape(p.Name), sanitize.Escape(p.Version), sanitize.Escape(p.Constraints), printableMarks(p.Marks)
		p.RequiredBy = slices.Clone(p.RequiredBy)
		for j := range p.RequiredBy {
			p.RequiredBy[j] = sanitize.Escape(p.RequiredBy[j])
		}
		p.Requirements = slices.Clone(p.Requirements)
		for j := range p.Requirements {
			r := &p.Requirements[j]
			for _, text := range []*string{&r.Key, &r.Constraint, &r.By, &r.File} {
				*text = sanitize.Escape(*text)
			}
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

// kindOf returns the kind that determines the color of a node, which is its most serious mark.
// It returns "" if there are no marks.
func kindOf(marks []Mark) Kind {
	for _, w := range words {
		if slices.ContainsFunc(marks, func(m Mark) bool { return m.Kind == w.kind }) {
			return w.kind
		}
	}
	return ""
}

// summary counts the modules and the marks, for example "5 modules; 1 outdated, 2 changed".
func (t *tree) summary() string {
	counts := map[Kind]int{}
	for _, n := range t.nodes {
		for i, m := range n.Marks {
			if !slices.ContainsFunc(n.Marks[:i], func(before Mark) bool { return before.Kind == m.Kind }) {
				counts[m.Kind]++
			}
		}
	}
	text := count(len(t.nodes), "module")
	if len(t.Providers) > 0 {
		text += ", " + count(len(t.Providers), "provider")
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

// heading returns the title and, if locks are compared, their names.
func (t *tree) heading() string {
	if t.Old == "" {
		return t.Title
	}
	return fmt.Sprintf("%s: %s -> %s", t.Title, t.Old, t.New)
}

// requiredIn lists the modules that require a provider, for example "the root module, app and 3
// more".
func requiredIn(keys []string) string {
	named := make([]string, len(keys))
	for i, key := range keys {
		if named[i] = key; key == "" {
			named[i] = "the root module"
		}
	}
	return listed(named)
}

// maxListed is the maximum number of names in a list.
const maxListed = 6

// listed joins names. If there are too many, it counts the remaining ones.
func listed(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed-1], ", "), len(names)-maxListed+1)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
