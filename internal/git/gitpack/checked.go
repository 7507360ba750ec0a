package gitpack

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the pack's own checksum, against accidents
	"errors"
	"hash"
	"io"
)

// checked is a reader that computes the checksum of a stream. The last 20 bytes of the stream
// are the checksum of all bytes before them.
type checked struct {
	in   io.Reader
	sum  hash.Hash
	tail []byte // the last bytes read so far, at most idSize
	size int64
	err  error // the error of the stream, except io.EOF
}

func newChecked(in io.Reader) *checked {
	return &checked{in: in, sum: sha1.New()}
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.take(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// take adds all but the last idSize bytes read so far to the checksum.
func (c *checked) take(p []byte) {
	c.size += int64(len(p))
	if whole := max(0, len(p)-idSize); whole > 0 {
		c.sum.Write(c.tail)
		c.sum.Write(p[:whole])
		c.tail = append(c.tail[:0], p[whole:]...)
		return
	}
	c.tail = append(c.tail, p...)
	if old := len(c.tail) - idSize; old > 0 {
		c.sum.Write(c.tail[:old])
		c.tail = append(c.tail[:0], c.tail[old:]...)
	}
}

// matches reports whether the last bytes read so far are the checksum of all bytes before them.
func (c *checked) matches() bool { return bytes.Equal(c.tail, c.sum.Sum(nil)) }
