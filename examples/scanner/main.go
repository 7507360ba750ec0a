// Command scanner shows how a linter or a scanner walks the modules of a
// project: it reads the tree that is installed, asks no server, and goes on
// where something is missing. It names the calls whose module may change under
// their feet.
//
//	scanner DIR
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scanner DIR")
		os.Exit(2)
	}
	if err := scan(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func scan(out io.Writer, dir string) error {
	var in cotter.Installer
	result, err := in.Load(context.Background(), cotter.Request{Dir: dir, BestEffort: true})
	if err != nil {
		return err
	}
	for _, m := range result.Modules {
		if _, local := m.Source.(addrs.ModuleSourceLocal); !local && len(m.Hashes) == 0 {
			report(out, m.Call, "module %s is not locked", m.Path)
		}
	}
	for _, u := range result.Unresolved {
		report(out, u.Call, "module %s was not looked at: %v", u.Path, u.Err)
	}
	return nil
}

func report(out io.Writer, call cotter.ModuleCall, format string, args ...any) {
	fmt.Fprintf(out, "%s:%d: %s\n", call.Range.Filename, call.Range.Start.Line, fmt.Sprintf(format, args...))
}
