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

// maxTagDepth bounds the length of a chain of tags that point to tags.
const maxTagDepth = 64

// maxTagBytes bounds how much of a tag is read to find the object that it points to, in bytes.
const maxTagBytes = 1 << 20

// Objects are the objects of a fetch. They are not safe for concurrent use.
type Objects struct {
	get func(plumbing.Hash) (plumbing.EncodedObject, error)
	// ids returns the names of all objects that may begin with a prefix in hexadecimal digits.
	ids   func(prefix string) ([]plumbing.Hash, error)
	close func() error

	// ctx cancels reading; nil means that it cannot be canceled.
	ctx context.Context
	// current is the content of the object that is being read; nil if there is none.
	current io.Closer
	buffer  bufio.Reader
}

// Close removes the fetched objects.
func (o *Objects) Close() error { return errors.Join(o.closeCurrent(), o.close()) }

// Has reports whether the objects include a commit.
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

// open starts to read an object. This ends the reading of the previous one.
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

// named is an object with the name by which it was found. Its content is not trusted, and is
// compared with the name while it is read.
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
		err = failure(Broken, "%s does not point to a commit", id)
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

// expand returns the only commit whose name begins with short, or "" if there is none.
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

// tagged returns the name of the object in the first line of a tag.
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
		return plumbing.ZeroHash, fmt.Errorf("the tag %s does not name an object", tag.id)
	}
	return plumbing.NewHash(id), nil
}
