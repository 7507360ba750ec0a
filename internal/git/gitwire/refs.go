package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// Refs lists at least the refs that begin with one of the prefixes. Over [git.MaxRefs] or [git.MaxRefBytes], the
// error wraps [git.ErrTooLarge].
func (c *Client) Refs(ctx context.Context, prefixes ...string) (git.Refs, error) {
	out := appendLine(nil, "command=ls-refs")
	out = appendSpecial(out, delimPacket)
	out = appendLine(out, "peel")
	for _, prefix := range prefixes {
		out = appendLine(out, "ref-prefix %s", prefix)
	}
	body, err := c.Transport.Ask(ctx, appendSpecial(out, flushPacket))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readRefs(newPackets(body, body.Ended), git.MaxRefs)
}

func readRefs(p *packets, limit int) (git.Refs, error) {
	refs := git.Refs{}
	size := 0
	for n := 0; ; n++ {
		kind, line, err := p.line()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			// Servers of older versions stop reading at the first line of the request.
			return nil, ErrOldProtocol
		case err != nil:
			return nil, early(err)
		case kind == flushPacket:
			if err := p.end(); err != nil {
				return nil, err
			}
			return refs, nil
		case kind != dataPacket:
			return nil, malformed("unexpected packet %04x in a list of refs", int(kind))
		case n == limit:
			return nil, fmt.Errorf("%w: over %d refs", git.ErrTooLarge, limit)
		}
		if size += len(line); size > git.MaxRefBytes {
			return nil, fmt.Errorf("%w: over %d bytes of refs", git.ErrTooLarge, git.MaxRefBytes)
		}
		name, ref, err := parseRef(line)
		if err != nil {
			return nil, err
		}
		refs[name] = ref
	}
}

// parseRef parses "ID NAME ATTRIBUTES".
func parseRef(line string) (name string, ref git.Ref, err error) {
	fields := strings.Split(line, " ")
	if len(fields) < 2 || !isID(fields[0]) || fields[1] == "" {
		return "", git.Ref{}, malformed("%q is not a ref", shortened(line))
	}
	ref = git.Ref{ID: fields[0], Commit: fields[0]}
	for _, attribute := range fields[2:] {
		if id, ok := strings.CutPrefix(attribute, "peeled:"); ok {
			if !isID(id) {
				return "", git.Ref{}, malformed("%q is not a ref", shortened(line))
			}
			ref.Commit = id
		}
	}
	return fields[1], ref, nil
}

func (p *packets) end() error {
	if p.in.Buffered() == 0 {
		p.ended()
	}
	kind, _, err := p.next()
	switch {
	case errors.Is(err, io.EOF), err == nil && kind == endPacket:
		return nil
	case err != nil:
		return err
	}
	return malformed("packets follow the end")
}

func isID(s string) bool { return len(s) == git.SHA1Len && git.IsObjectID(s) }

func shortened(s string) string { return s[:min(len(s), maxRemoteText)] }
