package pathsafe

import (
	"fmt"
	"path"
	"strings"
)

// MaxHops is the number of links that Linux follows for one name. It limits the recursion of a Resolver.
const MaxHops = 40

// Target returns why the target of a link that is read is refused, or "".
func Target(target string) string {
	switch {
	case target == "":
		return "has no target"
	case ReadText(target) != "":
		return "has a target that " + ReadText(target)
	case path.IsAbs(target):
		return "is absolute"
	}
	return ""
}

// WrittenTarget is Target for a link that is written. It accepts clean targets, and "./" at the beginning
// and "/" at the end, which people write.
func WrittenTarget(target string) string {
	if len(target) > MaxPath {
		return fmt.Sprintf("has a target of more than %d bytes", MaxPath)
	}
	if reason := Target(target); reason != "" {
		return reason
	}
	plain := strings.TrimSuffix(strings.TrimPrefix(target, "./"), "/")
	if plain != "" && path.Clean(plain) != plain {
		return "is not clean: it must be written without detours"
	}
	return ""
}

// Kind is what a tree has at a path.
type Kind uint8

// The zero value is for paths that a tree does not have.
const (
	Absent Kind = iota
	File
	Directory
	Link
)

// Resolver follows the links of one tree, each once, so the time is linear in the length of all targets. It
// is not safe for concurrent use.
type Resolver struct {
	// Lookup returns what is at a clean path, and the target of a link.
	Lookup func(name string) (Kind, string)
	// Target is [Target] or [WrittenTarget].
	Target func(target string) string

	resolved map[string]entry
}

type entry struct {
	name string
	file bool
	hops int // the number of links that were followed
}

// Fault is a link that cannot be followed.
type Fault struct {
	// Link may be another one, through which the link that was to be followed points.
	Link, Target string
	// Reason is such as "points to nothing".
	Reason string
	// InTarget says that the text of the target is refused, wherever it points to.
	InTarget bool
}

// Follow returns what a link points to, and whether it is a file.
func (r *Resolver) Follow(link string) (name string, isFile bool, fault *Fault) {
	_, target := r.Lookup(link)
	at, fault := r.resolve(link, target, 0)
	return at.name, at.file, fault
}

// resolve follows a link. hops is the number of links that were followed before.
func (r *Resolver) resolve(link, target string, hops int) (entry, *Fault) {
	const tooMany = "leads in a circle or through too many links"
	if at, known := r.resolved[link]; known {
		return at, nil
	}
	fault := &Fault{Link: link, Target: target}
	if hops == MaxHops {
		fault.Reason = tooMany
		return entry{}, fault
	}
	if fault.Reason = r.Target(target); fault.Reason != "" {
		fault.InTarget = true
		return entry{}, fault
	}
	at := entry{name: path.Dir(link), hops: 1}
	for component := range strings.SplitSeq(target, "/") {
		next, reason, inner := r.step(at, component, hops)
		if inner != nil {
			return entry{}, inner
		}
		if next.hops+hops > MaxHops {
			reason = tooMany
		}
		if reason != "" {
			fault.Reason = reason
			return entry{}, fault
		}
		at = next
	}
	if r.resolved == nil {
		r.resolved = make(map[string]entry)
	}
	r.resolved[link] = at
	return at, nil
}

// step goes on by one component of a target. It returns why that is not possible, or the fault of another
// link.
func (r *Resolver) step(at entry, component string, hops int) (_ entry, reason string, _ *Fault) {
	switch {
	case at.file:
		return at, "leads through a file", nil
	case component == "" || component == ".":
		return at, "", nil
	case component == ".." && at.name == ".":
		return at, "points out of the package", nil
	case component == "..":
		at.name = path.Dir(at.name)
		return at, "", nil
	}
	next := path.Join(at.name, component)
	switch kind, target := r.Lookup(next); kind {
	case Absent:
		return at, "points to nothing", nil
	case Link:
		through, fault := r.resolve(next, target, hops+at.hops)
		through.hops += at.hops
		return through, "", fault
	default:
		at.name, at.file = next, kind == File
	}
	return at, "", nil
}
