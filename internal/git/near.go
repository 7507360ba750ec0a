package git

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is how many names a hint holds.
const maxNear = 5

// Near returns the short names of those refs that resemble a ref, which the
// repository does not have.
func (r Refs) Near(ref string) []string {
	if ref = Short(ref); ref == "" {
		return nil
	}
	var near []string
	seen := map[string]bool{}
	for full := range r {
		isName := strings.HasPrefix(full, Heads) || strings.HasPrefix(full, Tags)
		if name := Short(full); isName && resembles(name, ref) && !seen[name] {
			near, seen[name] = append(near, name), true
		}
	}
	// The fewer letters are added or missing, the nearer.
	distance := func(name string) int { return max(len(name)-len(ref), len(ref)-len(name)) }
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(distance(a)-distance(b), strings.Compare(a, b)) })
	return near[:min(len(near), maxNear)]
}

func resembles(name, ref string) bool {
	name, ref = strings.ToLower(name), strings.ToLower(ref)
	bare := strings.TrimPrefix(ref, "v")
	return name != "" && (bare != "" && strings.Contains(name, bare) || strings.Contains(ref, name))
}
