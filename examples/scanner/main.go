// Command scanner shows how a linter or a scanner walks the modules of a project:
// it reads what is installed, the root module included, sends no request, and goes on
// if something is missing. It prints the tree, and the calls that are not locked.
//
//	scanner DIR
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	for _, m := range append([]cotter.Module{result.Root}, result.Modules...) {
		files, err := filepath.Glob(filepath.Join(dir, m.Dir, "*.tf"))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "module %q in %s: %d files\n", m.Path, m.Dir, len(files))
		if _, local := m.Source.(addrs.ModuleSourceLocal); !local && !m.Path.IsRoot() && len(m.Hashes) == 0 {
			fmt.Fprintf(out, "%s:%d: module %s is not locked\n", m.Call.Range.Filename, m.Call.Range.Start.Line, m.Path)
		}
	}
	for _, u := range result.Unresolved {
		fmt.Fprintf(out, "not scanned: %v\n", u.Err) // which says where the call is
	}
	return nil
}
