package git

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is the maximum number of names in a hint.
const maxNear = 5

// Near returns the short names of the tags and branches that resemble ref, which the repository
// does not have. It returns at most maxNear names, the most similar first.
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
	// Names are more similar if fewer letters are added or missing.
	distance := func(name string) int { return max(len(name)-len(ref), len(ref)-len(name)) }
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(distance(a)-distance(b), strings.Compare(a, b)) })
	return near[:min(len(near), maxNear)]
}

func resembles(name, ref string) bool {
	name, ref = strings.ToLower(name), strings.ToLower(ref)
	bare := strings.TrimPrefix(ref, "v")
	return name != "" && (bare != "" && strings.Contains(name, bare) || strings.Contains(ref, name))
}
