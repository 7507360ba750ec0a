package advice

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/textform"
)

// In errors, results and JSON, file names are relative to the project. Text output shows them
// relative to the current directory, so that an editor or a shell can open them from there.

// ShownFile returns the name of a file for text output. dir is "" for the project that the output is about.
func (r *Run) ShownFile(dir, name string) string {
	if name == "" {
		return ""
	}
	full := view.Below(cmp.Or(dir, r.Project, r.Dir), filepath.FromSlash(name))
	if full != name && view.Absent(full) && !view.Absent(filepath.FromSlash(name)) {
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

func (r *Run) ShownRange(dir string, at hcl.Range) hcl.Range {
	at.Filename = r.ShownFile(dir, at.Filename)
	return at
}

// Place returns the file and the line of a range, or "-".
func (r *Run) Place(dir string, at hcl.Range) string {
	return view.Dash(r.At(dir, textform.Path(at.Filename), at.Start.Line))
}

// At is Place for a name and a line, or "".
func (r *Run) At(dir string, file textform.Path, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.ShownFile(dir, string(file)), line)
}

func (r *Run) ShownInterface(dir string, changes []config.InterfaceChange) []config.InterfaceChange {
	return lists.WithEach(changes, func(c *config.InterfaceChange) { c.At = r.ShownRange(dir, c.At) })
}

func (r *Run) shownUses(dir string, uses []installer.ProviderRequirement) []installer.ProviderRequirement {
	return lists.WithEach(uses, func(use *installer.ProviderRequirement) { use.Range = r.ShownRange(dir, use.Range) })
}

// fileIn returns the part of a path that is not a directory, or else the path.
func fileIn(name string) string {
	for at := name; at != "." && at != "/"; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return at
		}
	}
	return name
}

// entriesIn leaves out hidden files.
func entriesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}
