package treewriter

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// makeLinks makes all links, after all of them were found to be good.
func (w *Writer) makeLinks() error {
	names := slices.Sorted(maps.Keys(w.targets))
	for _, name := range names {
		if reason := w.linkFault(name); reason != "" {
			return &PathError{Path: name, Reason: fmt.Sprintf("the link to %.100q %s", w.targets[name], reason)}
		}
	}
	for _, name := range names {
		parent, err := w.open(path.Dir(name))
		if err != nil {
			return err
		}
		if err := parent.Symlink(w.targets[name], path.Base(name)); err != nil {
			return w.taken(name, err)
		}
	}
	return nil
}

func (w *Writer) linkFault(name string) string {
	if reason := targetFault(w.targets[name]); reason != "" {
		return reason
	}
	_, reason := w.follow(path.Dir(name), w.targets[name])
	return reason
}

// targetFault looks at a target's text alone. "./" in front and "/" at the end
// are accepted beside what is clean: people write them, and they mean the same
// to everyone.
func targetFault(target string) string {
	plain := strings.TrimSuffix(strings.TrimPrefix(target, "./"), "/")
	switch {
	case target == "" || len(target) > maxPath:
		return fmt.Sprintf("is empty or longer than %d bytes", maxPath)
	case textFault(target) != "":
		return "is not possible: " + textFault(target)
	case strings.HasPrefix(target, "/"):
		return "is absolute"
	case plain != "" && path.Clean(plain) != plain:
		return "is not clean: it must be written without detours"
	}
	return ""
}

// follow finds what a target means, beginning in a directory, as the kernel
// would: by components, with the target of each link in its place. It returns
// the entry's name, or what is wrong.
func (w *Writer) follow(dir, target string) (name, reason string) {
	todo := strings.Split(target, "/")
	for hops := 1; len(todo) > 0; { // 1 for the link whose target this is
		component := todo[0]
		todo = todo[1:]
		switch {
		case component == "" || component == ".":
			continue
		case component == ".." && dir == ".":
			return "", "leads out of the package"
		case component == "..":
			dir = path.Dir(dir)
			continue
		}
		next := path.Join(dir, component)
		switch w.kinds[next] {
		case absent:
			return "", "leads to nothing"
		case directory:
			dir = next
		case file:
			if len(todo) > 0 {
				return "", "leads through a file"
			}
			return next, ""
		case link:
			if hops++; hops > maxHops {
				return "", "leads in circles"
			}
			if reason := targetFault(w.targets[next]); reason != "" {
				return "", "leads to a link that " + reason
			}
			todo = append(strings.Split(w.targets[next], "/"), todo...)
		}
	}
	return dir, ""
}
