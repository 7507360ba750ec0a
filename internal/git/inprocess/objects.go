package inprocess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

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
}

// Close removes what was fetched.
func (o *Objects) Close() error { return o.close() }

// Has reports whether there is such a commit.
func (o *Objects) Has(commit string) bool {
	obj, err := o.get(plumbing.NewHash(commit))
	return err == nil && obj.Type() == plumbing.CommitObject
}

var (
	errMissing   = errors.New("missing")
	errAmbiguous = errors.New("ambiguous")
)

// named is an object with the name by which it was found. What it holds may be
// anything: whoever reads it compares.
type named struct {
	plumbing.EncodedObject
	id plumbing.Hash
}

// find finds an object by the names that git's cat-file takes and that are
// needed here: ID, ID^{commit}, and SHORT^{commit}.
func (o *Objects) find(name string) (named, error) {
	id, peel := strings.CutSuffix(name, "^{commit}")
	if peel && len(id) < hexLen {
		return o.short(id)
	}
	if !plumbing.IsHash(id) {
		return named{}, errMissing
	}
	obj, err := o.object(plumbing.NewHash(id))
	for depth := 0; err == nil && peel && obj.Type() == plumbing.TagObject; depth++ {
		if depth == maxTagDepth {
			return named{}, failure(TooLarge, "the tag %s leads through more than %d tags", id, maxTagDepth)
		}
		var next plumbing.Hash
		if next, err = tagged(obj); err == nil {
			obj, err = o.object(next)
		}
	}
	if err == nil && peel && obj.Type() != plumbing.CommitObject {
		return named{}, errMissing
	}
	return obj, err
}

// hexLen is the length of an object's name.
const hexLen = 40

func (o *Objects) object(id plumbing.Hash) (named, error) {
	obj, err := o.get(id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = errMissing
	}
	return named{obj, id}, err
}

// short finds the only commit whose name begins so.
func (o *Objects) short(prefix string) (found named, err error) {
	ids, err := o.ids(prefix)
	if err != nil {
		return named{}, err
	}
	for _, id := range ids {
		if !strings.HasPrefix(id.String(), prefix) {
			continue
		}
		obj, err := o.object(id)
		switch {
		case err != nil:
			return named{}, err
		case obj.Type() != plumbing.CommitObject:
			continue
		case found.EncodedObject != nil && found.id != id:
			return named{}, errAmbiguous
		}
		found = obj
	}
	if found.EncodedObject == nil {
		return named{}, errMissing
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
