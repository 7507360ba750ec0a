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

// nameBelow returns a module's path relative to its caller. It has more than one part if a
// test runs the module.
func nameBelow(m cotter.Module) string { return m.Path[len(m.Caller()):].String() }

// describe returns the source and the version of a module.
func describe(m cotter.Module) string {
	text := addrs.Redact(m.Source.ForDisplay())
	if m.Version != "" {
		text += " " + m.Version
	}
	return text
}
