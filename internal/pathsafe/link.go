package pathsafe

import (
	"fmt"
	"path"
	"strings"
)

// MaxHops is the number of links that Linux follows for one name. It also limits the recursion of
// a Resolver.
const MaxHops = 40

// Target returns the reason why the target of a link that is read is refused, or "".
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

// WrittenTarget returns the reason why the target of a link that is written is refused, or "". It
// accepts clean targets, and also "./" at the beginning and "/" at the end, because people write
// them and their meaning is clear.
func WrittenTarget(target string) string {
	if len(target) > MaxPath {
		return fmt.Sprintf("has a target of more than %d bytes", MaxPath)
	}
	if reason := Target(target); reason != "" {
		return reason
	}
	if reason := writtenText(target); reason != "" {
		return "has a target that " + reason
	}
	plain := strings.TrimSuffix(strings.TrimPrefix(target, "./"), "/")
	if plain != "" && path.Clean(plain) != plain {
		return "is not clean: it must be written without detours"
	}
	return ""
}

// Kind is the kind of entry that a tree has at a path.
type Kind uint8

// Kinds of entries. The zero value is for paths that a tree does not have.
const (
	Absent Kind = iota
	File
	Directory
	Link
)

// Resolver follows the links of one tree. A link that was resolved is not followed again, so the
// time is linear in the total length of the targets. It is not safe for concurrent use.
type Resolver struct {
	// Lookup returns the kind of the entry at a clean path, and the target if it is a link.
	Lookup func(name string) (Kind, string)
	// Target checks the target of each link. It is [Target] or [WrittenTarget].
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
	// Link is the path of the link. It may differ from the link that was to be followed, if that
	// one points through Link.
	Link, Target string
	// Reason is the reason why it cannot be followed, such as "points to nothing".
	Reason string
	// InTarget reports whether the text of the target is refused, regardless of where it points
	// to.
	InTarget bool
}

// Follow returns the path of the file or directory that a link points to, and whether it is a
// file.
func (r *Resolver) Follow(link string) (name string, isFile bool, fault *Fault) {
	_, target := r.Lookup(link)
	at, fault := r.resolve(link, target, 0)
	return at.name, at.file, fault
}

// resolve follows a link. hops is the number of links that have been followed before.
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

// step goes from an entry to the next one by one component of a target. It returns a reason if
// that is not possible, or a fault if the problem is in another link.
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
