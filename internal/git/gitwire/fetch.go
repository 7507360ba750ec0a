package gitwire

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
)

// Fetch describes what to fetch, and the limit.
type Fetch struct {
	// Want is the object name of a commit, or of a tag that points to one.
	Want string
	// Bytes bounds the size of the pack, in bytes.
	Bytes int64
	// Progress is called with the number of bytes of the pack that were received so far. It may
	// be nil.
	Progress func(bytes int64)
}

// Fetch starts to fetch all objects of one commit without its history. It returns the pack while
// it is received. The caller must close it. If the limit is exceeded, reading fails with an error
// that wraps [ErrTooLarge].
func (c *Client) Fetch(ctx context.Context, f Fetch) (io.ReadCloser, error) {
	// Only the requested commit can have missing parents; the limit is for servers that behave
	// unexpectedly.
	const maxShallow = 16
	stream := &packStream{left: f.Bytes, progress: f.Progress}
	return c.fetch(ctx, []string{"deepen 1", "want " + f.Want}, maxShallow, stream)
}

// fetch sends a request with these arguments, and completes the stream.
func (c *Client) fetch(ctx context.Context, arguments []string, maxShallow int, stream *packStream) (io.ReadCloser, error) {
	out := appendLine(nil, "command=fetch")
	out = appendSpecial(out, delimPacket)
	for _, argument := range slices.Concat([]string{"no-progress", "ofs-delta"}, arguments, []string{"done"}) {
		out = appendLine(out, "%s", argument)
	}
	body, err := c.Transport.Ask(ctx, appendSpecial(out, flushPacket))
	if err != nil {
		return nil, err
	}
	p := newPackets(body)
	if err := p.beginPack(maxShallow); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	stream.packets, stream.body = p, body
	return stream, nil
}

// beginPack reads the answer up to the beginning of the pack. Because the request contains
// "done", only the list of commits whose parents are left out can precede the pack.
func (p *packets) beginPack(maxShallow int) error {
	kind, line, err := p.line()
	if errors.Is(err, io.EOF) {
		return ErrOldProtocol
	}
	if err == nil && kind == dataPacket && line == "shallow-info" {
		if err = p.skipShallow(maxShallow); err == nil {
			kind, line, err = p.line()
		}
	}
	switch {
	case err != nil:
		return early(err)
	case kind != dataPacket || line != "packfile":
		return malformed("%q is not the beginning of a pack", shortened(line))
	}
	return nil
}

func (p *packets) skipShallow(maxShallow int) error {
	for range maxShallow {
		kind, line, err := p.line()
		switch {
		case err != nil:
			return early(err)
		case kind == delimPacket:
			return nil
		case kind != dataPacket || !strings.HasPrefix(line, "shallow "):
			return malformed("%q is not a shallow commit", shortened(line))
		}
	}
	return malformed("over %d shallow commits", maxShallow)
}
