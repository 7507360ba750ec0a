package getmodules

import (
	"context"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxRefListing bounds the list of a remote's refs that is read for a hint. A
// longer one, of some 100,000 refs, gives none.
const maxRefListing = 8 << 20

// maxNear is how many names a hint holds.
const maxNear = 5

// nearRefs are names in the remote that resemble the one that it does not
// have. There are none if anything goes wrong: they are a courtesy.
func (g *gitFetch) nearRefs(ctx context.Context) []string {
	ref := git.Short(g.addr.ref)
	if ref == "" {
		return nil
	}
	list := g.command("ls-remote", "--refs", "--heads", "--tags", "--end-of-options", g.remote())
	out, err := g.git.Output(ctx, list, maxRefListing)
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		names = append(names, name)
	}
	return nearest(ref, names)
}

// nearest are the short names of those refs that resemble ref.
func nearest(ref string, names []string) []string {
	var near []string
	seen := map[string]bool{}
	for _, name := range names {
		if name = git.Short(name); resembles(name, ref) && !seen[name] {
			near, seen[name] = append(near, name), true
		}
	}
	// The fewer letters are added or missing, the nearer.
	distance := func(name string) int { return max(len(name)-len(ref), len(ref)-len(name)) }
	slices.SortStableFunc(near, func(a, b string) int { return distance(a) - distance(b) })
	return near[:min(len(near), maxNear)]
}

func resembles(name, ref string) bool {
	name, ref = strings.ToLower(name), strings.ToLower(ref)
	bare := strings.TrimPrefix(ref, "v")
	return name != "" && (bare != "" && strings.Contains(name, bare) || strings.Contains(ref, name))
}
