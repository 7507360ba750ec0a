package inprocess

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxTagDepth bounds the length of a chain of tags that point to tags.
const maxTagDepth = 64

// packObjects provides the objects of one pack. The name of each object was computed from its
// content when it was received.
type packObjects struct {
	pack    *PackStream
	content bytes.Reader
	buffer  bufio.Reader
}

// Finish implements [git.Objects]. It waits for the end of the pack, which shows whether the
// pack was complete.
func (o *packObjects) Finish() error {
	_, err := o.pack.Wait()
	return err
}

// Commit implements [git.Objects]. A tag begins with a line that has "object " and the name of
// the object that the tag points to.
func (o *packObjects) Commit(id string) (*git.Object, error) {
	for range maxTagDepth {
		kind, _, ok := o.pack.Stat(id)
		if !ok || kind != git.KindTag {
			return o.object(git.KindCommit, id)
		}
		body, err := o.read(git.KindTag, id)
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(body, []byte("\n"))
		id = strings.TrimPrefix(string(line), "object ")
	}
	return nil, fmt.Errorf("%w: more than %d tags point from one to the next", git.ErrDamaged, maxTagDepth)
}

// Read implements [git.Objects].
func (o *packObjects) Read(kind git.Kind, ids []string) iter.Seq2[*git.Object, error] {
	return func(yield func(*git.Object, error) bool) {
		for _, id := range ids {
			if obj, err := o.object(kind, id); !yield(obj, err) || err != nil {
				return
			}
		}
	}
}

func (o *packObjects) object(kind git.Kind, id string) (*git.Object, error) {
	body, err := o.read(kind, id)
	if err != nil {
		return nil, err
	}
	if kind == git.KindTree && !isSortedTree(body) {
		return nil, fmt.Errorf("%w: the entries of the tree %s are not in order", git.ErrDamaged, id)
	}
	o.content.Reset(body)
	o.buffer.Reset(&o.content)
	return git.CheckedObject(id, &o.buffer, int64(len(body))), nil
}

// read waits for an object. If it was not received because of an error of the pack, read
// returns that error.
func (o *packObjects) read(kind git.Kind, id string) ([]byte, error) {
	found, _, ok := o.pack.Stat(id)
	if !ok {
		if _, err := o.pack.Wait(); err != nil {
			return nil, err
		}
	}
	if !ok || found != kind {
		return nil, fmt.Errorf("the server did not send the %s %s", kind, id)
	}
	return o.pack.Read(id)
}

// isSortedTree reports whether a tree is in git's order and has no duplicate names. Git also
// checks this. Malformed entries are left to the parser of the tree.
func isSortedTree(body []byte) bool {
	const idLen = git.SHA1Len / 2
	last := ""
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte(" "))
		if !ok || !ok2 || len(rest) < idLen {
			return true
		}
		// Directories are sorted as if their names ended in a slash.
		key := string(name)
		if strings.TrimLeft(string(mode), "0") == "40000" {
			key += "/"
		}
		if key <= last || key == last+"/" {
			return false
		}
		last, body = key, rest[idLen:]
	}
	return true
}
