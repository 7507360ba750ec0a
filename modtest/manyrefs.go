package modtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manyRefNames returns the full names of the refs for Options.ManyRefs and Options.ManyTags,
// sorted.
func (o Options) manyRefNames() []string {
	var names []string
	for i := range o.ManyRefs {
		name := fmt.Sprintf("refs/heads/branch-%d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("refs/pull/%d/head", i)
		}
		names = append(names, name)
	}
	const patches = 50 // of a minor version
	for i := range o.ManyTags {
		names = append(names, fmt.Sprintf("refs/tags/v0.%d.%d", i/patches, i%patches))
	}
	slices.Sort(names)
	return names
}

// writePackedRefs creates refs with these names, which must be sorted. It writes them to the
// single file in which git keeps many refs (gitrepository-layout(5)). Writing a separate file for
// each ref would take minutes.
func (r *repository) writePackedRefs(names []string, id string) error {
	var text strings.Builder
	text.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, name := range names {
		fmt.Fprintf(&text, "%s %s\n", id, name)
	}
	return os.WriteFile(filepath.Join(r.dir, "packed-refs"), []byte(text.String()), 0o644)
}
