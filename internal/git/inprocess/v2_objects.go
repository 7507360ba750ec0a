package inprocess

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxTagDepth bounds tags that point to tags.
const maxTagDepth = 64

type packObjects struct {
	pack    *PackStream
	content bytes.Reader
	buffer  bufio.Reader
}

// Finish waits for the end of the pack, which shows whether it was complete.
func (o *packObjects) Finish() error {
	_, err := o.pack.Wait()
	return err
}

// Commit follows tags, which begin with "object " and a name.
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

// read returns the error of the pack if the object has not come because of it.
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

// isSortedTree reports whether a tree is in git's order, without duplicates, as git checks it. Malformed entries
// are left to the parser.
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
