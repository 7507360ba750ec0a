package treewriter

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Link is a symbolic link that is not part of the tree.
type Link struct {
	// Path is the link's name, and Target its text.
	Path, Target string
	// Reason is what is wrong with it, such as "leads to nothing".
	Reason string
}

func (l Link) String() string {
	return fmt.Sprintf("%.200q to %.100q, which %s", l.Path, l.Target, l.Reason)
}

// LeftOut returns the links that Close left out, sorted by path.
func (w *Writer) LeftOut() []Link { return w.leftOut }

// makeLinks makes all good links. A good link leads through good ones only, so
// that it makes no difference to it that the others are left out.
func (w *Writer) makeLinks() error {
	var good []string
	for _, name := range slices.Sorted(maps.Keys(w.targets)) {
		reason := w.linkFault(name)
		switch {
		case reason == "":
			good = append(good, name)
		case w.allLinks:
			return &PathError{Path: name, Reason: fmt.Sprintf("the link to %.100q %s", w.targets[name], reason)}
		default:
			w.leftOut = append(w.leftOut, Link{Path: name, Target: w.targets[name], Reason: reason})
		}
	}
	for _, name := range good {
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

// leftOutWarning is one line for all links that were left out; "" for none.
func (w *Writer) leftOutWarning() string {
	if len(w.leftOut) == 0 {
		return ""
	}
	named := make([]string, 0, maxNamedLinks)
	for _, link := range w.leftOut[:min(len(w.leftOut), maxNamedLinks)] {
		named = append(named, link.String())
	}
	text := "symbolic links that lead nowhere in the package are left out: " + strings.Join(named, "; ")
	if more := len(w.leftOut) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// PruneLinks removes from a tree, which a Writer has written as part of a larger
// one, the links that lead out of it. What it returns has them as LeftOut.
func PruneLinks(dir string) (*Writer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &Writer{kinds: map[string]kind{}, targets: map[string]string{}, err: errClosed, done: true}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			w.kinds[name] = directory
		case d.Type() == fs.ModeSymlink:
			w.kinds[name] = link
			w.targets[name], err = root.Readlink(name)
		default:
			w.kinds[name] = file
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.targets)) {
		reason := w.linkFault(name)
		if reason == "" {
			continue
		}
		w.leftOut = append(w.leftOut, Link{Path: name, Target: w.targets[name], Reason: reason})
		if err := root.Remove(name); err != nil {
			return nil, err
		}
	}
	return w, nil
}
