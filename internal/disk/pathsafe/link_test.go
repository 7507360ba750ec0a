package pathsafe_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// tree is a tree of links and other entries. The value of a link is its target after ">", and
// other values are "file" and "dir".
type tree map[string]string

func (e tree) lookup(name string) (pathsafe.Kind, string) {
	switch value, found := e[name]; {
	case name == ".":
		return pathsafe.Directory, ""
	case !found:
		return pathsafe.Absent, ""
	case value == "file":
		return pathsafe.File, ""
	case value == "dir":
		return pathsafe.Directory, ""
	default:
		return pathsafe.Link, strings.TrimPrefix(value, ">")
	}
}

func (e tree) resolver() *pathsafe.Resolver {
	return &pathsafe.Resolver{Lookup: e.lookup, Target: pathsafe.Target}
}

func TestResolver(t *testing.T) {
	t.Parallel()
	entries := tree{
		"f": "file", "d": "dir", "d/f": "file", "d/e": "dir",
		"to-f": ">f", "to-d": ">d", "d/up": ">..", "d/out": ">../..", "to-e": ">to-d/e/", "to-out": ">d/out",
		"absolute": ">/etc", "to-absolute": ">absolute/x", "nothing": ">none", "through": ">f/x", "slash": ">f/", "empty": ">",
		"self": ">self", "a": ">b", "b": ">a", "dots": ">./d/../d/./f", "twice": ">d/up/to-d/f",
	}
	for i := range 50 {
		entries[fmt.Sprintf("l%d", i)] = fmt.Sprintf(">l%d", i+1)
	}
	entries["l50"] = ">f"
	tests := map[string]string{ // the place, or the link at fault and the reason
		"to-f": "f file", "to-d": "d", "d/up": ".", "to-e": "d/e", "dots": "d/f file", "twice": "d/f file",
		"l11": "f file", "l10": "leads in a circle",
		"d/out": "d/out: points out of the package", "to-out": "d/out: points out of the package",
		"absolute": "absolute: is absolute", "to-absolute": "absolute: is absolute", "nothing": "nothing: points to nothing",
		"through": "through: leads through a file", "slash": "slash: leads through a file", "empty": "empty: has no target",
		"self": "self: leads in a circle", "a": "leads in a circle",
	}
	all := entries.resolver() // remembers the links that it has resolved
	for name, want := range tests {
		for _, r := range []*pathsafe.Resolver{all, entries.resolver()} {
			if got := follow(r, name); got != want && !(strings.Contains(want, "lead") && strings.Contains(got, want)) && !strings.HasPrefix(got, want+" ") {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}

func follow(r *pathsafe.Resolver, link string) string {
	name, isFile, fault := r.Follow(link)
	switch {
	case fault != nil:
		return fault.Link + ": " + fault.Reason
	case isFile:
		return name + " file"
	}
	return name
}

// kernel follows a link in the simplest way: it replaces each link by its target and remembers
// nothing. It returns "" if the link cannot be followed.
func (e tree) kernel(link string) string {
	dir, todo := path.Dir(link), strings.Split(strings.TrimPrefix(e[link], ">"), "/")
	for hops := 1; len(todo) > 0; {
		component := todo[0]
		todo = todo[1:]
		if component == "" || component == "." {
			continue
		}
		if component == ".." {
			if dir == "." {
				return ""
			}
			dir = path.Dir(dir)
			continue
		}
		next := path.Join(dir, component)
		switch kind, target := e.lookup(next); kind {
		case pathsafe.Absent:
			return ""
		case pathsafe.File:
			if len(todo) > 0 {
				return ""
			}
			return next + " file"
		case pathsafe.Directory:
			dir = next
		case pathsafe.Link:
			if hops++; hops > pathsafe.MaxHops || pathsafe.Target(target) != "" {
				return ""
			}
			todo = append(strings.Split(target, "/"), todo...)
		}
	}
	return dir
}

// FuzzResolver compares the Resolver with the simplest way of following links, in a tree of links
// with arbitrary targets.
func FuzzResolver(f *testing.F) {
	f.Add("f", "..", "l0/l1", "l2", "./l0/", "../d/f")
	f.Add("l1", "l2/..", "l3", "d/l4", "f", "l0")
	f.Add("/etc", "", "none", "f/x", "d/../..", "d//f")
	f.Fuzz(func(t *testing.T, t0, t1, t2, t3, t4, t5 string) {
		entries := tree{"f": "file", "d": "dir", "d/f": "file"}
		for i, target := range []string{t0, t1, t2, t3} {
			entries[fmt.Sprintf("l%d", i)] = ">" + target
		}
		entries["d/l4"], entries["d/l5"] = ">"+t4, ">"+t5
		r := entries.resolver()
		for _, link := range []string{"l0", "l1", "l2", "l3", "d/l4", "d/l5"} {
			want := entries.kernel(link)
			if pathsafe.Target(strings.TrimPrefix(entries[link], ">")) != "" {
				want = ""
			}
			name, isFile, fault := r.Follow(link)
			if isFile {
				name += " file"
			}
			if (fault != nil) != (want == "") || fault == nil && name != want {
				t.Errorf("%s in %v: %q, %+v; want %q", link, entries, name, fault, want)
			}
		}
	})
}
