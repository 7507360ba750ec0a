package getmodules

import (
	"fmt"
	"io"
)

// gitSource is where the objects of a commit come from: a store, or a pack in
// memory.
type gitSource interface {
	// ask requests objects, by their names. Behind the name of a commit or tag
	// there may be "^{commit}". Each call's answers must be read before the
	// next call.
	ask(names ...string)
	// next begins to read the next answer, which must be an object of that
	// kind. The one before must have been read to its end.
	next(kind string) (*gitObject, error)
	// finish is called after the last answer.
	finish() error
}

// gitContent is the content of one object. io.EOF says that it is complete and
// matches the object's name.
type gitContent interface {
	io.Reader
	Peek(n int) ([]byte, error)
}

// gitObject is one object.
type gitObject struct {
	id   string
	size int64
	gitContent
}

// startsWith reports whether the content, of which nothing was read yet,
// begins so.
func (b *gitObject) startsWith(prefix string) bool {
	head, err := b.Peek(len(prefix))
	return err == nil && string(head) == prefix
}

// bytes reads the content, which must not be longer than limit.
func (b *gitObject) bytes(limit int64) ([]byte, error) {
	if b.size > limit {
		return nil, fmt.Errorf("%w: git object %s has %d bytes, over %d", ErrTooLarge, b.id, b.size, limit)
	}
	return io.ReadAll(b)
}
