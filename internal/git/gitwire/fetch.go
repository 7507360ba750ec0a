package gitwire

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

const (
	// maxShallow bounds the commits whose parents are left out, of which only the requested one is expected.
	maxShallow = 16
	// maxGrafts is the same for a history, at the end of a shallow repository.
	maxGrafts = 100_000
)

type Fetch struct {
	// Want are commits, or tags that point to one.
	Want    []string
	Shallow bool
	// Have are commits whose history is left out, if the server has them.
	Have []string
	// Filter is that of git-rev-list(1), such as "tree:0"; "" is none. It needs the feature "filter" of "fetch", and
	// servers can refuse some.
	Filter string
	// Bytes bounds the pack.
	Bytes int64
	// Progress gets the bytes of the pack so far. It may be nil.
	Progress func(bytes int64)
}

// Fetch returns the pack while it is received. The caller must close it. Reading over the limit is a
// [git.ErrTooLarge]. What the server sends counts for the run of ctx; see [packagelimits.Disk].
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
	p := newPackets(body, body.Ended)
	if err := p.beginPack(shallow); err != nil {
		return nil, errors.Join(err, body.Close())
	}
	return &packStream{packets: p, body: body, limit: f.Bytes, left: f.Bytes, disk: packagelimits.DiskOf(ctx), progress: f.Progress}, nil
}

// beginPack reads up to the pack. After a request with "done", only the list of shallow commits can precede it.
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
