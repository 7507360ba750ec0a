package main

import "github.com/cotterpin/cotter/internal/graph"

// graphRecord is the output of graph.
type graphRecord struct {
	// Title is the name of the root module's directory.
	Title string `json:"title"`
	// Old and New name the locks that are compared.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Modules are those of the tree, and those that only the old lock has.
	Modules   []graphedModule   `json:"modules"`
	Providers []graphedProvider `json:"providers,omitempty"`
}

func (graphRecord) kind() string { return "graph" }

// graphedModule is a module in the output of graph.
type graphedModule struct {
	Key     string `json:"key"`
	Source  string `json:"source,omitempty"`
	Version string `json:"version,omitempty"`
	// Package is the same for modules in the same fetched package.
	Package string      `json:"package,omitempty"`
	File    string      `json:"file,omitempty"`
	Line    int         `json:"line,omitempty"`
	Marks   []graphMark `json:"marks,omitempty"`
}

// graphedProvider is a provider in the output of graph.
type graphedProvider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// RequiredBy are the keys of the modules that require it; "" is the root module.
	RequiredBy []string    `json:"required_by,omitempty"`
	Marks      []graphMark `json:"marks,omitempty"`
}

// graphMark is one thing to notice about a module or a provider.
type graphMark struct {
	// Kind is "changed", "moved", "missing", "unlocked", "problem", "outdated", or in a
	// comparison "added", "removed", "updated", "content" or "relocked".
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
}

func jsonGraph(g graph.Graph) record {
	r := graphRecord{Title: g.Title, Old: g.Old, New: g.New, Modules: []graphedModule{}}
	for _, m := range g.Modules {
		r.Modules = append(r.Modules, graphedModule{m.Key, m.Source, m.Version, m.Package, m.File, m.Line, jsonMarks(m.Marks)})
	}
	for _, p := range g.Providers {
		r.Providers = append(r.Providers, graphedProvider{p.Name, p.Version, p.RequiredBy, jsonMarks(p.Marks)})
	}
	return r
}

func jsonMarks(marks []graph.Mark) []graphMark {
	var list []graphMark
	for _, m := range marks {
		list = append(list, graphMark{string(m.Kind), m.Text})
	}
	return list
}
