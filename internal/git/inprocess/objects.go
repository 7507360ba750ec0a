package inprocess

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// maxTagDepth bounds tags of tags.
const maxTagDepth = 64

// maxTagBytes bounds what is read of a tag for the object that it names.
const maxTagBytes = 1 << 20

// Objects are the objects that a fetch brought. They are not for concurrent
// use.
type Objects struct {
	get func(plumbing.Hash) (plumbing.EncodedObject, error)
	// ids are those of which a name, in hexadecimal, may begin with prefix.
	ids   func(prefix string) ([]plumbing.Hash, error)
	close func() error

	// ctx ends the reading; nil means that nothing does.
	ctx context.Context
	// current is the content of the object that is being read; nil means none.
	current io.Closer
	buffer  bufio.Reader
}

// Close removes what was fetched.
func (o *Objects) Close() error { return errors.Join(o.closeCurrent(), o.close()) }

// Has reports whether there is such a commit.
func (o *Objects) Has(commit string) bool {
	obj, err := o.get(plumbing.NewHash(commit))
	return err == nil && obj.Type() == plumbing.CommitObject
}

// Commit implements [git.Objects].
func (o *Objects) Commit(id string) (*git.Object, error) {
	obj, err := o.commit(plumbing.NewHash(id))
	if err != nil {
		return nil, err
	}
	return o.open(obj)
}

// Read implements [git.Objects].
func (o *Objects) Read(kind git.Kind, ids []string) iter.Seq2[*git.Object, error] {
	return func(yield func(*git.Object, error) bool) {
		for _, id := range ids {
			if obj, err := o.read(kind, id); !yield(obj, err) || err != nil {
				return
			}
		}
	}
}

// Finish implements [git.Objects]. Each object is checked while it is read.
func (o *Objects) Finish() error { return nil }

func (o *Objects) read(kind git.Kind, id string) (*git.Object, error) {
	obj, err := o.object(plumbing.NewHash(id))
	if err != nil {
		return nil, err
	}
	if found := git.Kind(obj.Type().String()); found != kind {
		return nil, failure(Broken, "the object %s is a %s instead of a %s", id, found, kind)
	}
	return o.open(obj)
}

// open begins to read an object, which ends the reading of the one before.
func (o *Objects) open(obj named) (*git.Object, error) {
	if err := o.closeCurrent(); err != nil {
		return nil, err
	}
	content, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	o.current = content
	o.buffer.Reset(content)
	return git.NewObject(obj.id.String(), git.Kind(obj.Type().String()), obj.Size(), &o.buffer), nil
}

func (o *Objects) closeCurrent() error {
	if o.current == nil {
		return nil
	}
	err := o.current.Close()
	o.current = nil
	return err
}

// named is an object with the name by which it was found. What it holds may be
// anything: it is compared while it is read.
type named struct {
	plumbing.EncodedObject
	id plumbing.Hash
}

// commit returns the commit that an object points to.
func (o *Objects) commit(id plumbing.Hash) (named, error) {
	obj, err := o.object(id)
	for depth := 0; err == nil && obj.Type() == plumbing.TagObject; depth++ {
		if depth == maxTagDepth {
			return named{}, failure(TooLarge, "the tag %s points to a chain of more than %d tags", id, maxTagDepth)
		}
		var next plumbing.Hash
		if next, err = tagged(obj); err == nil {
			obj, err = o.object(next)
		}
	}
	if err == nil && obj.Type() != plumbing.CommitObject {
		err = failure(Broken, "%s points to no commit", id)
	}
	return obj, err
}

func (o *Objects) object(id plumbing.Hash) (named, error) {
	if o.ctx != nil && o.ctx.Err() != nil {
		return named{}, o.ctx.Err()
	}
	obj, err := o.get(id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = failure(Broken, "there is no object %s", id)
	}
	return named{obj, id}, err
}

// expand returns the only commit whose name begins so, or "".
func (o *Objects) expand(short string) (string, error) {
	ids, err := o.ids(short)
	if err != nil {
		return "", err
	}
	found := ""
	for _, id := range ids {
		name := id.String()
		if !strings.HasPrefix(name, short) || !o.Has(name) || name == found {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%q is ambiguous: %w", short, git.ErrAmbiguous)
		}
		found = name
	}
	return found, nil
}

// tagged is the object that a tag names, in its first line.
func tagged(tag named) (_ plumbing.Hash, err error) {
	r, err := tag.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text, err := io.ReadAll(io.LimitReader(r, maxTagBytes))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	id, ok := strings.CutPrefix(string(line), "object ")
	if !ok || !plumbing.IsHash(id) {
		return plumbing.ZeroHash, fmt.Errorf("the tag %s names no object", tag.id)
	}
	return plumbing.NewHash(id), nil
}
