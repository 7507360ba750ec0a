package gitwire

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitpack"
)

// Fetch says what to fetch and how much that may be.
type Fetch struct {
	// Want is the name of a commit, or of a tag that points to one.
	Want string
	// Bytes bounds the pack.
	Bytes int64
	// Limits bound its content.
	Limits gitpack.Limits
	// Dir is where temporary files may be made.
	Dir string
	// Progress, if not nil, is called with the bytes of the pack so far.
	Progress func(bytes int64)
}

// Fetch begins to fetch all objects of one commit without its history. The
// caller waits for them and closes them. What is over a limit is an error that
// wraps [ErrTooLarge] or gitpack's, which comes with the objects.
func (c *Client) Fetch(ctx context.Context, f Fetch) (*gitpack.Objects, error) {
	out := appendLine(nil, "command=fetch")
	out = appendSpecial(out, delimPacket)
	for _, argument := range []string{"no-progress", "ofs-delta", "deepen 1", "want " + f.Want, "done"} {
		out = appendLine(out, "%s", argument)
	}
	body, err := c.post(ctx, appendSpecial(out, flushPacket))
	if err != nil {
		return nil, err
	}
	p := newPackets(body)
	if err := p.beginPack(); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	stream := &packStream{packets: p, body: body, left: f.Bytes, progress: f.Progress}
	return gitpack.Start(stream, f.Dir, f.Limits), nil
}

// beginPack reads up to the beginning of the pack. With "done" in the request
// there is nothing before it but the list of commits whose parents are left
// out.
func (p *packets) beginPack() error {
	kind, line, err := p.line()
	if errors.Is(err, io.EOF) {
		return ErrOldProtocol
	}
	if err == nil && kind == dataPacket && line == "shallow-info" {
		if err = p.skipShallow(); err == nil {
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

func (p *packets) skipShallow() error {
	// The only commit that is asked for is the only one whose parents can be
	// missing, or the server is confused.
	const maxShallow = 16
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
