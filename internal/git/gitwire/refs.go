package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// Ref is a ref of a repository.
type Ref struct {
	// Name is the full name, such as "refs/tags/v1.0.0" or "HEAD".
	Name string
	// ID is the name of the object that the ref points to.
	ID string
	// Peeled is the name of the object that an annotated tag finally points to; "" for other
	// refs.
	Peeled string
}

// Refs lists the refs whose full names begin with one of the prefixes. Servers may list further
// refs. If there are more than limit refs, or more than [git.MaxRefBytes], the error wraps
// [ErrTooLarge].
func (c *Client) Refs(ctx context.Context, limit int, prefixes ...string) ([]Ref, error) {
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
	return readRefs(newPackets(body), limit)
}

func readRefs(p *packets, limit int) ([]Ref, error) {
	var refs []Ref
	size := 0
	for first := true; ; first = false {
		kind, line, err := p.line()
		switch {
		case errors.Is(err, io.EOF) && first:
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
		case len(refs) == limit:
			return nil, fmt.Errorf("%w: over %d refs", ErrTooLarge, limit)
		}
		if size += len(line); size > git.MaxRefBytes {
			return nil, fmt.Errorf("%w: over %d bytes of refs", ErrTooLarge, git.MaxRefBytes)
		}
		ref, err := parseRef(line)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
}

// parseRef parses "ID NAME" and the attributes that follow.
func parseRef(line string) (Ref, error) {
	fields := strings.Split(line, " ")
	if len(fields) < 2 || !isID(fields[0]) || fields[1] == "" {
		return Ref{}, malformed("%q is not a ref", shortened(line))
	}
	ref := Ref{ID: fields[0], Name: fields[1]}
	for _, attribute := range fields[2:] {
		if id, ok := strings.CutPrefix(attribute, "peeled:"); ok {
			if !isID(id) {
				return Ref{}, malformed("%q is not a ref", shortened(line))
			}
			ref.Peeled = id
		}
	}
	return ref, nil
}

// end checks that there are no further packets.
func (p *packets) end() error {
	kind, _, err := p.next()
	switch {
	case errors.Is(err, io.EOF), err == nil && kind == endPacket:
		return nil
	case err != nil:
		return err
	}
	return malformed("packets follow the end")
}

// idLen is the length of a SHA-1 hash in hexadecimal digits.
const idLen = 40

func isID(s string) bool { return len(s) == idLen && strings.Trim(s, "0123456789abcdef") == "" }

func shortened(s string) string { return s[:min(len(s), maxRemoteText)] }
