package git

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/versions"
)

const maxNear = 5

// Near returns the short names of at most maxNear tags and branches that resemble ref, the most similar first.
// If there are none, it returns the newest tags that are versions.
func (r Refs) Near(ref string) []string {
	if ref = Short(ref); ref == "" {
		return nil
	}
	var near, similar, releases []string
	seen := map[string]bool{}
	for full := range r {
		isName := strings.HasPrefix(full, Heads) || strings.HasPrefix(full, Tags)
		name := Short(full)
		if !isName || seen[name] {
			continue
		}
		switch {
		case resembles(name, ref):
			near = append(near, name)
		case differsInOne(strings.ToLower(name), strings.ToLower(ref)):
			similar = append(similar, name)
		case strings.HasPrefix(full, Tags) && isRelease(name):
			releases = append(releases, name)
		default:
			continue // a tag may have the name of this branch
		}
		seen[name] = true
	}
	distance := func(name string) int { return max(len(name)-len(ref), len(ref)-len(name)) }
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(distance(a)-distance(b), strings.Compare(a, b)) })
	slices.SortFunc(similar, newestFirst)
	near = append(near, similar...)
	if len(near) == 0 {
		slices.SortFunc(releases, newestFirst)
		near = releases
	}
	return near[:min(len(near), maxNear)]
}

func resembles(name, ref string) bool {
	name, ref = strings.ToLower(name), strings.ToLower(ref)
	bare := strings.TrimPrefix(ref, "v")
	return name != "" && (bare != "" && strings.Contains(name, bare) || strings.Contains(ref, name))
}

// differsInOne reports whether a character was added, removed or replaced, or two neighbors were swapped.
func differsInOne(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

func isRelease(name string) bool {
	v, err := version(name)
	return err == nil && !v.IsPrerelease()
}

func version(name string) (versions.Version, error) {
	return versions.Parse(strings.TrimPrefix(name, "v"))
}

// newestFirst sorts versions before all others.
func newestFirst(a, b string) int {
	x, errX := version(a)
	y, errY := version(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(y.Compare(x), strings.Compare(b, a))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(b, a)
}
