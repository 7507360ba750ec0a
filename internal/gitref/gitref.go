// Package gitref says which ref of a repository a name means.
//
// The rule is git's own, by gitrevisions(7), as "git fetch URL NAME" applies it
// to the refs of a server: of the full names that a short name may stand for, the
// first that the repository has is taken. Fetching and checking, by whichever git
// client, use this rule and no other.
package gitref

import "strings"

// The namespaces of tags and branches.
const (
	Tags  = "refs/tags/"
	Heads = "refs/heads/"
)

// Head is the ref that no name means.
const Head = "HEAD"

// Candidates returns the full names that a name may stand for, in the order in
// which they count. The empty name means HEAD.
func Candidates(name string) []string {
	if name == "" {
		return []string{Head}
	}
	return []string{
		name,
		"refs/" + name,
		Tags + name,
		Heads + name,
		"refs/remotes/" + name,
		"refs/remotes/" + name + "/HEAD",
	}
}

// Choose returns the full name that a name means in a repository with these refs,
// and those that it would mean if that one were not there, in their order. It
// returns "" if the repository has none of them.
func Choose[V any](name string, refs map[string]V) (full string, others []string) {
	for _, candidate := range Candidates(name) {
		if _, ok := refs[candidate]; !ok {
			continue
		}
		if full == "" {
			full = candidate
		} else {
			others = append(others, candidate)
		}
	}
	return full, others
}

// Short returns a ref's name without the namespace of tags or branches.
func Short(full string) string {
	if branch, ok := strings.CutPrefix(full, Heads); ok {
		return branch
	}
	return strings.TrimPrefix(full, Tags)
}

// Describe returns a ref's name for people: "tag v1", "branch main", or the full
// name of a ref that is neither.
func Describe(full string) string {
	switch {
	case strings.HasPrefix(full, Tags):
		return "tag " + Short(full)
	case strings.HasPrefix(full, Heads):
		return "branch " + Short(full)
	}
	return full
}
