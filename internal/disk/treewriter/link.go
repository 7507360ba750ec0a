package treewriter

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/text/textform"
)

type Link struct {
	// Target is as written.
	Path, Target string
	// Reason is such as "points to nothing".
	Reason string
}

// linkRecord is a link in JSON.
type linkRecord struct {
	Path, Target textform.Path
	Reason       string
}

func (l Link) MarshalJSON() ([]byte, error) {
	return json.Marshal(linkRecord{textform.Path(l.Path), textform.Path(l.Target), l.Reason})
}

func (l *Link) UnmarshalJSON(text []byte) error {
	var r linkRecord
	err := json.Unmarshal(text, &r)
	if err == nil {
		*l = Link{string(r.Path), string(r.Target), r.Reason}
	}
	return err
}

func (l Link) String() string {
	return fmt.Sprintf("%.200q to %.100q, which %s", l.Path, l.Target, l.Reason)
}

// LeftOut are the links that Close left out, sorted by path.
func (w *Writer) LeftOut() []Link { return w.leftOut }

// makeLinks creates all valid links, which pass only through valid links.
func (w *Writer) makeLinks() error {
	good, err := w.checkLinks()
	if err != nil {
		return err
	}
	for _, name := range good {
		parent, err := w.open(path.Dir(name))
		if err != nil {
			return err
		}
		if err := parent.root.Symlink(w.targets[name], path.Base(name)); err != nil {
			return w.notStored(name, err)
		}
	}
	return nil
}

// checkLinks returns the valid links, sorted; the others are in leftOut.
func (w *Writer) checkLinks() (good []string, err error) {
	lookup := func(name string) (pathsafe.Kind, string) { return w.kinds[name], w.targets[name] }
	links := &pathsafe.Resolver{Lookup: lookup, Target: pathsafe.WrittenTarget}
	for _, name := range slices.Sorted(maps.Keys(w.targets)) {
		reason := linkFault(links, name)
		switch {
		case reason == "":
			good = append(good, name)
		case w.allLinks:
			return nil, &PathError{Path: name, Reason: fmt.Sprintf("the link to %.100q %s", w.targets[name], reason)}
		default:
			w.leftOut = append(w.leftOut, Link{Path: name, Target: w.targets[name], Reason: reason})
		}
	}
	return good, nil
}

func linkFault(links *pathsafe.Resolver, name string) string {
	switch _, _, fault := links.Follow(name); {
	case fault == nil:
		return ""
	case fault.InTarget && fault.Link != name:
		return "points to a link that " + fault.Reason
	default:
		return fault.Reason
	}
}

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

// PruneLinks removes the links out of the tree at dir, which a Writer has written in a larger one. They are
// LeftOut of the result.
func PruneLinks(dir string) (*Writer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &Writer{kinds: map[string]pathsafe.Kind{}, targets: map[string]string{}, err: errClosed, done: true}
	err = fs.WalkDir(pathsafe.FS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			w.kinds[name] = pathsafe.Directory
		case d.Type() == fs.ModeSymlink:
			w.kinds[name] = pathsafe.Link
			w.targets[name], err = root.Readlink(name)
		default:
			w.kinds[name] = pathsafe.File
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := w.checkLinks(); err != nil {
		return nil, err
	}
	for _, link := range w.leftOut {
		if err := root.Remove(link.Path); err != nil {
			return nil, err
		}
	}
	return w, nil
}
