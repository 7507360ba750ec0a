package gittest

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own object names
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Repository is bare. It may be written to while others read it: an object is complete before a ref points to it.
type Repository struct {
	Dir    string
	SHA256 bool // names objects by SHA-256 instead of SHA-1
}

// deflaters are reused: creating one takes longer than everything else here.
var deflaters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // fails only for unknown levels
	return w
}}

// Object writes a "blob", "tree", "commit" or "tag", and returns its name.
func (r Repository) Object(kind string, content []byte) (id string, err error) {
	object := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	if r.SHA256 {
		id = fmt.Sprintf("%x", sha256.Sum256(object))
	} else {
		id = fmt.Sprintf("%x", sha1.Sum(object)) //nolint:gosec // see above
	}
	name := filepath.Join(r.Dir, "objects", id[:2], id[2:])
	if _, err := os.Lstat(name); err == nil {
		return id, nil
	}
	var file bytes.Buffer
	w := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(w)
	w.Reset(&file)
	_, err = w.Write(object)
	if err = cmp.Or(err, w.Close()); err != nil {
		return "", err
	}
	return id, writeFile(name, file.Bytes(), 0o444)
}

// Entry has git's own mode: "100644", "100755", "120000" (link), "40000" (tree), "160000" (submodule).
type Entry struct{ Mode, Name, ID string }

// RawTree writes the entries in this order.
func (r Repository) RawTree(entries ...Entry) (id string, err error) {
	var tree []byte
	for _, e := range entries {
		raw, err := hex.DecodeString(e.ID)
		if err != nil {
			return "", err
		}
		tree = append(fmt.Appendf(tree, "%s %s\x00", e.Mode, e.Name), raw...)
	}
	return r.Object("tree", tree)
}

type File struct {
	Path    string // separated by slashes
	Mode    string // as in [Entry]; "" means "100644"
	Content []byte // for the mode "160000", the name of the commit
}

// Tree also writes the subtrees and the files. Of the same path, the last one counts.
func (r Repository) Tree(files ...File) (id string, err error) {
	entries, below := map[string]Entry{}, map[string][]File{}
	for _, f := range files {
		dir, rest, nested := strings.Cut(f.Path, "/")
		if nested {
			below[dir] = append(below[dir], File{rest, f.Mode, f.Content})
			continue
		}
		e := Entry{cmp.Or(f.Mode, "100644"), f.Path, string(f.Content)}
		if e.Mode != "160000" {
			if e.ID, err = r.Object("blob", f.Content); err != nil {
				return "", err
			}
		}
		entries[f.Path] = e
	}
	for dir, files := range below {
		e := Entry{Mode: "40000", Name: dir}
		if e.ID, err = r.Tree(files...); err != nil {
			return "", err
		}
		entries[dir] = e
	}
	return r.RawTree(slices.SortedFunc(maps.Values(entries), func(a, b Entry) int {
		return strings.Compare(a.sortedAs(), b.sortedAs())
	})...)
}

func (e Entry) sortedAs() string {
	if e.Mode == "40000" {
		return e.Name + "/"
	}
	return e.Name
}

type Commit struct {
	Tree    string // the name of its tree
	Parents []string
	By      string // author and committer, with the date: "a <a@example.com> 1700000000 +0000"
	Message string
}

func (r Repository) Commit(c Commit) (id string, err error) {
	text := fmt.Appendf(nil, "tree %s\n", c.Tree)
	for _, parent := range c.Parents {
		text = fmt.Appendf(text, "parent %s\n", parent)
	}
	return r.Object("commit", fmt.Appendf(text, "author %s\ncommitter %s\n\n%s", c.By, c.By, c.Message))
}

type Tag struct {
	Name    string // short name: "v1.0.0"
	Object  string // the object that it points to
	Kind    string // the kind of that object; "" means "commit"
	By      string // as in [Commit]
	Message string
}

// Tag points its ref to an annotated tag, and returns the name of the tag object.
func (r Repository) Tag(t Tag) (id string, err error) {
	id, err = r.Object("tag", fmt.Appendf(nil, "object %s\ntype %s\ntag %s\ntagger %s\n\n%s",
		t.Object, cmp.Or(t.Kind, "commit"), t.Name, t.By, t.Message))
	if err != nil {
		return "", err
	}
	return id, r.SetRef("refs/tags/"+t.Name, id)
}

func (r Repository) SetRef(name, id string) error {
	return writeFile(filepath.Join(r.Dir, filepath.FromSlash(name)), []byte(id+"\n"), 0o644)
}

func writeFile(name string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	// The name of a ref cannot end in ".lock".
	temporary, err := os.CreateTemp(filepath.Dir(name), "*.lock")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := os.Chmod(temporary.Name(), mode); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
