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

// Kind is git's own name.
type Kind string

const (
	KindCommit Kind = "commit"
	KindTree   Kind = "tree"
	KindBlob   Kind = "blob"
	KindTag    Kind = "tag"
)

// ErrDamaged means that objects are missing, or do not match their names.
var ErrDamaged = errors.New("the git objects are damaged")

// Objects are those of a fetched commit. They are not safe for concurrent use.
type Objects interface {
	// Commit returns the commit that id, or the tag id, points to. It must be read before the next call.
	Commit(id string) (*Object, error)
	// Read yields the named objects in this order, up to the first error. They must be of this kind, and each
	// must be read before the next.
	Read(kind Kind, ids []string) iter.Seq2[*Object, error]
	// Complete waits until all objects have come, or returns the error because of which they have not.
	Complete() error
	// Finish is called after the last Read. It returns an error unless all objects are complete and valid.
	Finish() error
}

// Object is checked while it is read: io.EOF means that it is complete and matches its name.
type Object struct {
	ID   string
	Size int64

	content *bufio.Reader
	left    int64
	sum     hash.Hash
}

func NewObject(id string, kind Kind, size int64, r *bufio.Reader) *Object {
	return &Object{ID: id, Size: size, content: r, left: size, sum: NewHash(id, kind, size)}
}

// NewHash returns the hash for the name of an object, of the algorithm of id.
func NewHash(id string, kind Kind, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see above
	if len(id) == SHA256Len {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	return h
}

func CheckedObject(id string, r *bufio.Reader, size int64) *Object {
	return &Object{ID: id, Size: size, content: r, left: size}
}

// Read returns an error that wraps [ErrDamaged] if the content is incomplete or does not match the name.
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

// Begins must be called before the first Read.
func (o *Object) Begins(prefix string) bool {
	if o.left < int64(len(prefix)) {
		return false
	}
	head, err := o.content.Peek(len(prefix))
	return err == nil && string(head) == prefix
}

// Bytes returns the content, or an error that wraps [ErrTooLarge] over limit bytes.
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
