package main

import "github.com/cotterpin/cotter/internal/graph"

// graphRecord is the output of graph.
type graphRecord struct {
	// Title is the name of the root module's directory.
	Title string `json:"title"`
	// Old is the name of the older of two compared locks.
	Old string `json:"old,omitempty"`
	// New is the name of the newer of two compared locks.
	New string `json:"new,omitempty"`
	// Modules are the modules of the tree, and those that only the old lock has.
	Modules   []jsonGraphModule   `json:"modules"`
	Providers []jsonGraphProvider `json:"providers,omitempty"`
}

func (graphRecord) kind() string { return "graph" }

// jsonGraphModule is a module in the output of graph.
type jsonGraphModule struct {
	Key     string `json:"key"`
	Source  string `json:"source,omitempty"`
	Version string `json:"version,omitempty"`
	// Package is the address of the fetched package. Modules in one package have the same
	// address here.
	Package string     `json:"package,omitempty"`
	File    string     `json:"file,omitempty"`
	Line    int        `json:"line,omitempty"`
	Marks   []jsonMark `json:"marks,omitempty"`
}

// jsonGraphProvider is a provider in the output of graph.
type jsonGraphProvider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// RequiredBy are the keys of the modules that require it; "" is the root module.
	RequiredBy []string   `json:"required_by,omitempty"`
	Marks      []jsonMark `json:"marks,omitempty"`
}

// jsonMark is something to note about a module or a provider.
type jsonMark struct {
	// Kind is "changed", "moved", "missing", "unlocked", "problem", "outdated", or in a
	// comparison "added", "removed", "updated", "content" or "relocked".
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
}

func jsonGraph(g graph.Graph) record {
	r := graphRecord{Title: g.Title, Old: g.Old, New: g.New, Modules: []jsonGraphModule{}}
	for _, m := range g.Modules {
		r.Modules = append(r.Modules, jsonGraphModule{m.Key, m.Source, m.Version, m.Package, m.File, m.Line, jsonMarks(m.Marks)})
	}
	for _, p := range g.Providers {
		r.Providers = append(r.Providers, jsonGraphProvider{p.Name, p.Version, p.RequiredBy, jsonMarks(p.Marks)})
	}
	return r
}

func jsonMarks(marks []graph.Mark) []jsonMark {
	var list []jsonMark
	for _, m := range marks {
		list = append(list, jsonMark{string(m.Kind), m.Text})
	}
	return list
}
