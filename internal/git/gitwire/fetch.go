package gitwire

import (
	"context"
	"errors"
	"io"
	"strings"
)

const (
	// maxShallow bounds the list of commits whose parents are left out, of a fetch without history.
	// Only the requested commit should be in it.
	maxShallow = 16
	// maxGrafts is the same for a history: these are the commits where a shallow repository ends.
	maxGrafts = 100_000
)

// Fetch describes what to fetch, and the limit.
type Fetch struct {
	// Want are the names of commits, or of tags that point to one.
	Want []string
	// Shallow leaves out the history of the commits.
	Shallow bool
	// Have are the names of commits whose history is left out. The server ignores those that it
	// does not have.
	Have []string
	// Filter says which objects are left out, as in git-rev-list(1): "tree:0" for all trees and
	// files. "" means none. It requires the feature "filter" of the command "fetch"; see
	// [Client.Features]. Servers can refuse some filters.
	Filter string
	// Bytes bounds the size of the pack, in bytes.
	Bytes int64
	// Progress is called with the number of bytes of the pack that were received so far. It may
	// be nil.
	Progress func(bytes int64)
}

// Fetch starts to fetch, and returns the pack while it is received. The caller must close it. If the
// limit is exceeded, reading fails with an error that wraps [git.ErrTooLarge].
func (c *Client) Fetch(ctx context.Context, f Fetch) (io.ReadCloser, error) {
	out := appendLine(nil, "command=fetch")
	out = appendSpecial(out, delimPacket)
	out = appendLine(out, "no-progress")
	out = appendLine(out, "ofs-delta")
	shallow := maxGrafts
	if f.Shallow {
		shallow = maxShallow
		out = appendLine(out, "deepen 1")
	}
	if f.Filter != "" {
		out = appendLine(out, "filter %s", f.Filter)
	}
	for _, id := range f.Want {
		out = appendLine(out, "want %s", id)
	}
	for _, id := range f.Have {
		out = appendLine(out, "have %s", id)
	}
	out = appendLine(out, "done")
	body, err := c.Transport.Ask(ctx, appendSpecial(out, flushPacket))
	if err != nil {
		return nil, err
	}
	p := newPackets(body)
	if err := p.beginPack(shallow); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	return &packStream{packets: p, body: body, left: f.Bytes, progress: f.Progress}, nil
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
