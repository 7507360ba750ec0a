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

// Kind is a kind of objects, by git's own name for it.
type Kind string

// The kinds of objects.
const (
	KindCommit Kind = "commit"
	KindTree   Kind = "tree"
	KindBlob   Kind = "blob"
	KindTag    Kind = "tag"
)

// ErrDamaged says that objects are missing, or are not what their names stand for.
var ErrDamaged = errors.New("the git objects are damaged")

// Objects gives access to the objects of a fetched commit. It is not safe for
// concurrent use.
type Objects interface {
	// Commit returns the commit that an object points to: a commit to itself, a tag
	// to what it is for. Its content must be read before the next call.
	Commit(id string) (*Object, error)
	// Read yields the objects with these names, which must be of the kind, in their
	// order. The content of each must be read before the next one. An error
	// ends it.
	Read(kind Kind, ids []string) iter.Seq2[*Object, error]
	// Finish reports whether all that was read is complete and sound. It is called
	// after the last Read.
	Finish() error
}

// Object is one object. Its content is checked while it is read: io.EOF says
// that it is complete and matches the object's name.
type Object struct {
	ID   string
	Size int64

	content *bufio.Reader
	left    int64
	sum     hash.Hash
}

// NewObject returns the object with this name and size, whose content follows in
// r.
func NewObject(id string, kind Kind, size int64, r *bufio.Reader) *Object {
	o := &Object{ID: id, Size: size, content: r, left: size, sum: sha1.New()} //nolint:gosec // see above
	if len(id) == SHA256Len {
		o.sum = sha256.New()
	}
	fmt.Fprintf(o.sum, "%s %d\x00", kind, size)
	return o
}

// CheckedObject returns an object whose content was checked before.
func CheckedObject(id string, r *bufio.Reader, size int64) *Object {
	return &Object{ID: id, Size: size, content: r, left: size}
}

// Read reads the content. An error that wraps [ErrDamaged] says that it is not the
// one that the name stands for.
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

// Begins reports whether the content, of which nothing was read yet, begins with
// the prefix.
func (o *Object) Begins(prefix string) bool {
	if o.left < int64(len(prefix)) {
		return false
	}
	head, err := o.content.Peek(len(prefix))
	return err == nil && string(head) == prefix
}

// Bytes reads the content. More than limit bytes are an error that wraps
// [ErrTooLarge].
func (o *Object) Bytes(limit int64) ([]byte, error) {
	if o.Size > limit {
		return nil, fmt.Errorf("%w: object %s has %d bytes, over %d", ErrTooLarge, o.ID, o.Size, limit)
	}
	content := make([]byte, o.Size)
	if _, err := io.ReadFull(o, content); err != nil {
		return nil, err
	}
	// The end says whether the content is what the name stands for.
	if _, err := o.Read(nil); !errors.Is(err, io.EOF) {
		return nil, err
	}
	return content, nil
}
