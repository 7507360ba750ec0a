// Command scanner shows how a linter or a scanner walks the modules of a project. It reads what any
// tool has installed, sends no request, and continues if something is missing.
//
//	scanner DIR
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/moduletree"
)

func main() {
	if err := scan(context.Background(), os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func scan(ctx context.Context, out io.Writer, dir string) error {
	tree, err := moduletree.Read(ctx, moduletree.Project{Dir: dir})
	if tree == nil {
		return err
	}
	for m := range tree.All() { // the root module is the first
		if m.Dir == "" {
			fmt.Fprintf(out, "not scanned: module %s %s is locked, and not installed\n", m.Path, m.Version)
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(m.Dir), "*.tf"))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "module %q in %s: %d files\n", m.Path, m.Dir, len(files))
		if _, local := m.Source.(addrs.ModuleSourceLocal); !local && !m.Path.IsRoot() && len(m.Hashes) == 0 {
			fmt.Fprintf(out, "%s: module %s is not locked\n", m.Call.Range, m.Path)
		}
	}
	for _, u := range tree.Unresolved {
		fmt.Fprintf(out, "not scanned: %v\n", u.Err) // the error names the file and the line of the call
	}
	return nil
}
