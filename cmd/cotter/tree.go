package main

import (
	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// tree prints a module tree, with the root module as ".".
func (o *output) tree(result *cotter.Result) {
	o.printf(".\n")
	o.branches(result, nil, "")
}

func (o *output) branches(result *cotter.Result, path addrs.Module, indent string) {
	children := result.Children(path)
	for i, m := range children {
		joint, below := "├── ", "│   "
		if i == len(children)-1 {
			joint, below = "└── ", "    "
		}
		o.printf("%s%s%s  %s\n", indent, joint, nameBelow(m), describe(m))
		o.branches(result, m.Path, indent+below)
	}
}

// nameBelow is a module's name below its caller; that of a module that a test
// runs is long.
func nameBelow(m cotter.Module) string { return m.Path[len(m.Caller()):].String() }

// describe is where a module comes from, and its version.
func describe(m cotter.Module) string {
	text := addrs.Redact(m.Source.ForDisplay())
	if m.Version != "" {
		text += " " + m.Version
	}
	return text
}
