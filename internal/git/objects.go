package git

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // git's own object names; nothing is trusted for them alone
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
)

// Kind is a kind of object, by git's own name.
type Kind string

// The kinds of objects.
const (
	KindCommit Kind = "commit"
	KindTree   Kind = "tree"
	KindBlob   Kind = "blob"
	KindTag    Kind = "tag"
)

// ErrDamaged means that objects are missing, or do not match their names.
var ErrDamaged = errors.New("the git objects are damaged")

// Objects gives access to the objects of a fetched commit. It is not safe for
// concurrent use.
type Objects interface {
	// Commit returns the commit that an object points to: a commit itself, or the commit that a
	// tag points to. Its content must be read before the next call.
	Commit(id string) (*Object, error)
	// Read yields the objects with the given names, in the same order. They must be of the
	// given kind. The content of each object must be read before the next one. Read stops at
	// the first error.
	Read(kind Kind, ids []string) iter.Seq2[*Object, error]
	// Finish returns an error unless all objects that were read are complete and valid. It is
	// called after the last Read.
	Finish() error
}

// Object is one object. Its content is checked while it is read: io.EOF means that the content
// is complete and matches the object's name.
type Object struct {
	ID   string
	Size int64

	content *bufio.Reader
	left    int64
	sum     hash.Hash
}

// NewObject returns the object with the given name and size. Its content is read from r.
func NewObject(id string, kind Kind, size int64, r *bufio.Reader) *Object {
	return &Object{ID: id, Size: size, content: r, left: size, sum: NewHash(id, kind, size)}
}

// NewHash returns the hash for the name of an object, to which its content is written. It is the
// hash by which id was made.
func NewHash(id string, kind Kind, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see above
	if len(id) == SHA256Len {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	return h
}

// CheckedObject returns an object whose content was already checked.
func CheckedObject(id string, r *bufio.Reader, size int64) *Object {
	return &Object{ID: id, Size: size, content: r, left: size}
}

// Read reads the content. If the content does not match the object's name, or is incomplete,
// the error wraps [ErrDamaged].
func (o *Object) Read(p []byte) (int, error) {
	if o.left == 0 {
		if o.sum != nil && hex.EncodeToString(o.sum.Sum(nil)) != o.ID {
			return 0, fmt.Errorf("%w: object %s does not match its name", ErrDamaged, o.ID)
		}
		return 0, io.EOF
	}
	n, err := o.content.Read(p[:min(int64(len(p)), o.left)])
	o.left -= int64(n)
	if o.sum != nil {
		o.sum.Write(p[:n])
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: object %s is incomplete", ErrDamaged, o.ID)
	}
	return n, err
}

// Begins reports whether the content begins with the prefix. It must be called before the first
// Read.
func (o *Object) Begins(prefix string) bool {
	if o.left < int64(len(prefix)) {
		return false
	}
	head, err := o.content.Peek(len(prefix))
	return err == nil && string(head) == prefix
}

// Bytes returns the content. The error wraps [ErrTooLarge] if it has more than limit bytes.
func (o *Object) Bytes(limit int64) ([]byte, error) {
	if o.Size > limit {
		return nil, fmt.Errorf("%w: object %s has %d bytes, over %d", ErrTooLarge, o.ID, o.Size, limit)
	}
	content := make([]byte, o.Size)
	if _, err := io.ReadFull(o, content); err != nil {
		return nil, err
	}
	// Only io.EOF shows that the content matches the name.
	if _, err := o.Read(nil); !errors.Is(err, io.EOF) {
		return nil, err
	}
	return content, nil
}
