package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/textform"
)

// In errors, results and JSON, file names are relative to the project. Text output shows them
// relative to the current directory, so that an editor or a shell can open them from there.

// shownFile returns the name of a file for text output. dir is "" for the project that the output is about.
func (o *output) shownFile(dir, name string) string {
	if name == "" {
		return ""
	}
	full := below(cmp.Or(dir, o.project, o.dir), filepath.FromSlash(name))
	if full != name && absent(full) && !absent(filepath.FromSlash(name)) {
		return name // a file that the command line names, or that is above the project
	}
	if filepath.IsAbs(full) && !filepath.IsAbs(name) {
		if here, err := os.Getwd(); err == nil {
			if relative, err := filepath.Rel(here, full); err == nil && filepath.IsLocal(relative) {
				full = relative
			}
		}
	}
	return filepath.ToSlash(full)
}

func (o *output) shownRange(dir string, at hcl.Range) hcl.Range {
	at.Filename = o.shownFile(dir, at.Filename)
	return at
}

// place returns the file and the line of a range, or "-".
func (o *output) place(dir string, at hcl.Range) string {
	return dash(o.at(dir, textform.Path(at.Filename), at.Start.Line))
}

// at is place for a name and a line, or "".
func (o *output) at(dir string, file textform.Path, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", o.shownFile(dir, string(file)), line)
}

func (o *output) shownInterface(dir string, changes []config.InterfaceChange) []config.InterfaceChange {
	return withEach(changes, func(c *config.InterfaceChange) { c.At = o.shownRange(dir, c.At) })
}

func (o *output) shownExclusions(dir string, all []jsonExclusion) []jsonExclusion {
	return withEach(all, func(one *jsonExclusion) { one.File = textform.Path(o.shownFile(dir, string(one.File))) })
}

func (o *output) shownUses(dir string, uses []installer.ProviderRequirement) []installer.ProviderRequirement {
	return withEach(uses, func(use *installer.ProviderRequirement) { use.Range = o.shownRange(dir, use.Range) })
}

func withEach[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
