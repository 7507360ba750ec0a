package inprocess

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxTagDepth bounds tags that point to tags.
const maxTagDepth = 64

type packObjects struct {
	pack   *PackStream
	buffer bufio.Reader
}

// Complete waits for the end of the pack, which shows whether it was complete.
func (o *packObjects) Complete() error {
	_, err := o.pack.Wait()
	return err
}

func (o *packObjects) Finish() error { return o.Complete() }

// Commit follows tags, which begin with "object " and a name.
func (o *packObjects) Commit(id string) (*git.Object, error) {
	for range maxTagDepth {
		kind, _, ok := o.pack.Stat(id)
		if !ok || kind != git.KindTag {
			return o.object(git.KindCommit, id)
		}
		tag, err := o.object(git.KindTag, id)
		if err != nil {
			return nil, err
		}
		head := make([]byte, min(tag.Size, int64(len("object \n")+git.SHA1Len)))
		if _, err := io.ReadFull(tag, head); err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(string(head), "\n")
		id = strings.TrimPrefix(line, "object ")
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
	content, err := o.open(kind, id)
	if err != nil {
		return nil, err
	}
	o.buffer.Reset(content)
	if kind == git.KindTree {
		if !isSortedTree(&o.buffer) {
			return nil, fmt.Errorf("%w: the entries of the tree %s are not in order", git.ErrDamaged, id)
		}
		if _, err := content.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		o.buffer.Reset(content)
	}
	return git.CheckedObject(id, &o.buffer, content.Size()), nil
}

// open returns the error of the pack if the object has not come because of it.
func (o *packObjects) open(kind git.Kind, id string) (*io.SectionReader, error) {
	found, _, ok := o.pack.Stat(id)
	if !ok {
		if _, err := o.pack.Wait(); err != nil {
			return nil, err
		}
	}
	if !ok || found != kind {
		return nil, fmt.Errorf("the server did not send the %s %s", kind, id)
	}
	return o.pack.Open(id), nil
}

// isSortedTree reports whether a tree is in git's order, without duplicates, as git checks it. Malformed entries
// are left to the parser, except for modes and names that are longer than the buffer.
func isSortedTree(body *bufio.Reader) bool {
	const idLen = git.SHA1Len / 2
	var last, key []byte
	for {
		mode, err := body.ReadSlice(' ')
		if err != nil {
			return !errors.Is(err, bufio.ErrBufferFull)
		}
		isDir := string(bytes.TrimLeft(mode, "0")) == "40000 "
		name, err := body.ReadSlice(0)
		if err != nil {
			return !errors.Is(err, bufio.ErrBufferFull)
		}
		key = append(key[:0], name[:len(name)-1]...)
		if isDir { // they are sorted as if their names ended in a slash
			key = append(key, '/')
		}
		if bytes.Compare(key, last) <= 0 || bytes.HasPrefix(key, last) && string(key[len(last):]) == "/" {
			return false
		}
		if n, _ := body.Discard(idLen); n < idLen {
			return true
		}
		last, key = key, last
	}
}
