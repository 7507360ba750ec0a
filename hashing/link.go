package hashing

import (
	"fmt"
	"path"
	"strings"
)

// maxLinkHops is how many links Linux follows for one name. It also bounds how
// deep resolve calls itself, and makes an end of circles.
const maxLinkHops = 40

// place is where a link leads: a directory, or a file with this sum.
type place struct {
	dir  string
	file bool
	sum  [32]byte
	hops int // how many links were followed
}

// linkResolver finds out where links lead from the list of entries alone: no
// link is ever followed on disk. Each link is followed once, so the time is
// linear in the lengths of the targets, whatever the links make of it.
type linkResolver struct {
	entries []Entry
	places  map[int]place
}

// resolve follows the link with this index, which hops others led to.
func (r *linkResolver) resolve(link, hops int) (place, error) {
	const tooMany = "leads in a circle or through too many links"
	if at, known := r.places[link]; known {
		return at, nil
	}
	e := r.entries[link]
	if hops == maxLinkHops {
		return place{}, linkError(e, tooMany)
	}
	if reason := targetFault(e.Target); reason != "" {
		return place{}, linkError(e, reason)
	}
	at := place{dir: path.Dir(e.Path), hops: 1}
	for name := range strings.SplitSeq(e.Target, "/") {
		var reason string
		var err error
		if at, reason, err = r.step(at, name, hops); err != nil {
			return place{}, err
		}
		if at.hops+hops > maxLinkHops {
			reason = tooMany
		}
		if reason != "" {
			return place{}, linkError(e, reason)
		}
	}
	if r.places == nil {
		r.places = make(map[int]place)
	}
	r.places[link] = at
	return at, nil
}

// step goes from a place by one name of a target. The reason says why that is
// not possible; the error is that of another link on the way.
func (r *linkResolver) step(at place, name string, hops int) (_ place, reason string, err error) {
	switch {
	case at.file:
		return at, "leads through a file", nil
	case name == "" || name == ".":
		return at, "", nil
	case name == ".." && at.dir == ".":
		return at, "leads out of the tree", nil
	case name == "..":
		at.dir = path.Dir(at.dir)
		return at, "", nil
	}
	next := path.Join(at.dir, name)
	i, found := find(r.entries, next)
	switch {
	case !found && !below(r.entries, next):
		return at, "leads to nothing in the tree", nil
	case !found || r.entries[i].Kind == EmptyDir:
		at.dir = next
	case r.entries[i].Kind == Link:
		through, err := r.resolve(i, hops+at.hops)
		through.hops += at.hops
		return through, "", err
	default:
		at.file, at.sum = true, r.entries[i].Sum
	}
	return at, "", nil
}

// targetFault says what is wrong with a target by itself.
func targetFault(target string) string {
	switch {
	case target == "":
		return "has no target"
	case textFault(target) != "":
		return "has a bad target: " + textFault(target)
	case path.IsAbs(target):
		return "is absolute"
	}
	return ""
}

func linkError(e Entry, reason string) error {
	return fmt.Errorf("the link %q to %q %s", e.Path, e.Target, reason)
}
