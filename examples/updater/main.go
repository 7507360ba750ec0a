// Command updater shows how a bot updates the modules of a project: the tags and version constraints of
// calls, and the lock. It prints what has changed as a list in Markdown, for a pull request.
//
//	updater DIR
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/edit"
)

func main() {
	if err := update(context.Background(), installer.New(installer.Options{}), os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func update(ctx context.Context, in *installer.Installer, out io.Writer, dir string) error {
	project := installer.Project{Dir: dir}
	pins, err := in.Pins(ctx, project, installer.PinOptions{}) // calls with a tag, such as ?ref=v1.2.0, or a version constraint
	if err != nil {
		return err
	}
	files, err := edit.Files(ctx, dir, edit.Changes{Pins: pins})
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.New, 0o644); err != nil {
			return err
		}
	}
	result, err := in.Install(ctx, project, installer.InstallOptions{Update: installer.Update{All: true}})
	if err != nil {
		return err
	}
	for _, c := range result.LockChanges {
		fmt.Fprintf(out, "- %s: %s -> %s\n", c.Path, cmp.Or(c.Old.Version.String(), c.Old.Package.String()), cmp.Or(c.New.Version.String(), c.New.Package.String()))
		for _, i := range c.Interface {
			if i.Breaking {
				fmt.Fprintf(out, "  - breaks %s: %s\n", i.At, i)
			}
		}
	}
	return nil
}
