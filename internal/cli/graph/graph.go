// Package graph draws the module tree of a configuration as text, for Mermaid and Graphviz, and as an HTML
// page. It reads no files and uses no network.
//
// Keys, sources and versions may be written by other people, so they are output only as text. Characters
// that control a terminal or change the direction of text are escaped first, and then each renderer escapes
// by the syntax of its format. Identifiers in the output are numbers that the renderer assigns.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Graph is a module tree with marks. All fields are text to show.
type Graph struct {
	Title string
	// Old and New name two compared locks.
	Old, New string
	// Modules leaves out the root module, and includes those that only the old lock has. The module with the
	// key "a" is the parent of "a.b".
	Modules   []Module
	Providers []Provider
}

type Module struct {
	// Key has the parts of the path, separated by dots.
	Key        string `json:"key"`
	Source     string `json:"source,omitempty"`
	Version    string `json:"version,omitempty"`
	Constraint string `json:"constraint,omitempty"`
	// Package is equal for modules in one package.
	Package   string `json:"package,omitempty"`
	Dir       string `json:"dir,omitempty"`
	Place     string `json:"place,omitempty"` // of the call
	Confirmed string `json:"confirmed,omitempty"`
	Marks     []Mark `json:"marks,omitempty"`
}

type Provider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Constraints are those of all modules together.
	Constraints string `json:"constraints,omitempty"`
	Confirmed   string `json:"confirmed,omitempty"`
	Uses        []Use  `json:"uses,omitempty"`
	Marks       []Mark `json:"marks,omitempty"`
}

type Use struct {
	// "" is the root module.
	Key        string `json:"key"`
	Constraint string `json:"constraint,omitempty"`
	// By is what requires the provider, such as "required_providers".
	By    string `json:"by,omitempty"`
	Place string `json:"place,omitempty"`
}

type Kind string

const (
	// Missing means not installed, or unreadable if the text says why.
	Missing Kind = "missing"

	// These are differences between two locks by their names in JSON: in the whole entry, in its version, in
	// the content of the same version, or in anything else. Breaking breaks the caller.
	Added    Kind = "added"
	Removed  Kind = "removed"
	Updated  Kind = "version"
	Content  Kind = "content"
	Relocked Kind = "other"
	Breaking Kind = "breaking"
)

// kinds has the most serious first.
var kinds = []struct {
	Kind Kind   `json:"kind"`
	Word string `json:"word"`
	Tone string `json:"tone"`
}{
	{Content, "OTHER CONTENT", "bad"},
	{Breaking, "BREAKING", "bad"},
	{Missing, "not installed", "gone"},
	{Removed, "removed", "gone"},
	{Updated, "updated", "note"},
	{Relocked, "lock changed", "note"},
	{Added, "added", "new"},
}

type Mark struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
}

func (m Mark) String() string {
	word := string(m.Kind)
	for _, k := range kinds {
		if k.Kind == m.Kind {
			word = k.Word
		}
	}
	if m.Text == "" {
		return word
	}
	return word + ": " + m.Text
}

type node struct {
	Module
	id       int
	parent   int    // its id, or -1 for the root module
	name     string // the key below the parent
	children []*node
	shared   int // counts the packages that several modules use from 1; 0 for others
}

type tree struct {
	Graph
	nodes    []*node // in the order of the tree: a module is followed by its descendants
	roots    []*node
	packages [][]int // those that several modules use, by module ids
}

func (g Graph) tree() *tree {
	t := &tree{Graph: g.printable()}
	slices.SortStableFunc(t.Modules, func(a, b Module) int { return CompareKeys(a.Key, b.Key) })
	var above []*node
	users := map[string][]int{}
	for id, m := range t.Modules {
		for len(above) > 0 && !strings.HasPrefix(m.Key, above[len(above)-1].Key+".") {
			above = above[:len(above)-1]
		}
		n := &node{Module: m, id: id, parent: -1, name: m.Key}
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

// CompareKeys sorts a module before its descendants, and team2 before team10.
func CompareKeys(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), compareNames)
}

// compareNames compares numbers in names by their values. It returns 0 only for equal names, so that the
// descendants of a module follow it.
func compareNames(a, b string) int {
	restA, restB := a, b
	for restA != "" && restB != "" {
		numberA, numberB := digits(restA), digits(restB)
		if numberA == "" || numberB == "" {
			if restA[0] != restB[0] {
				break
			}
			restA, restB = restA[1:], restB[1:]
			continue
		}
		valueA, valueB := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
		if c := cmp.Or(cmp.Compare(len(valueA), len(valueB)), strings.Compare(valueA, valueB)); c != 0 {
			return c
		}
		restA, restB = restA[len(numberA):], restB[len(numberB):]
	}
	return cmp.Or(strings.Compare(restA, restB), strings.Compare(a, b))
}

// digits returns the digits with which a text begins.
func digits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}

func (g Graph) printable() Graph {
	escape := func(texts ...*string) {
		for _, text := range texts {
			*text = sanitize.Escape(*text)
		}
	}
	marks := func(list *[]Mark) {
		*list = slices.Clone(*list)
		for i := range *list {
			escape(&(*list)[i].Text)
		}
	}
	escape(&g.Title, &g.Old, &g.New)
	g.Modules, g.Providers = slices.Clone(g.Modules), slices.Clone(g.Providers)
	for i := range g.Modules {
		m := &g.Modules[i]
		escape(&m.Key, &m.Source, &m.Version, &m.Constraint, &m.Package, &m.Dir, &m.Place, &m.Confirmed)
		marks(&m.Marks)
	}
	for i := range g.Providers {
		p := &g.Providers[i]
		escape(&p.Name, &p.Version, &p.Constraints, &p.Confirmed)
		marks(&p.Marks)
		p.Uses = slices.Clone(p.Uses)
		for j := range p.Uses {
			use := &p.Uses[j]
			escape(&use.Key, &use.Constraint, &use.By, &use.Place)
		}
	}
	return g
}

// summary returns a text such as "5 modules; 1 updated, 2 added".
func (t *tree) summary() string {
	text := count(len(t.nodes), "module")
	if len(t.Providers) > 0 {
		text += ", " + count(len(t.Providers), "provider")
	}
	separator := "; "
	for _, k := range kinds {
		n := 0
		for _, m := range t.nodes {
			if hasKind(m.Marks, k.Kind) {
				n++
			}
		}
		if n > 0 {
			text += fmt.Sprintf("%s%d %s", separator, n, k.Word)
			separator = ", "
		}
	}
	return text
}

func hasKind(marks []Mark, kind Kind) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return m.Kind == kind })
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (t *tree) heading() string {
	if t.Old == "" {
		return t.Title
	}
	return fmt.Sprintf("%s: %s -> %s", t.Title, t.Old, t.New)
}
