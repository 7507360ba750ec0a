package gitwire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// maxPacket bounds a packet with its length: LARGE_PACKET_MAX of the
	// format.
	maxPacket = 65520
	lenSize   = 4
)

// special are the packets without content, by their "length".
type special int

const (
	dataPacket    special = -1
	flushPacket   special = 0
	delimPacket   special = 1
	endPacket     special = 2
	emptyLengths          = 3 // shorter than its own length, and none of the above
	errorPrefix           = "ERR "
	maxRemoteText         = 1000 // of the server's words in an error
)

// packets reads pkt-lines.
type packets struct {
	in  *bufio.Reader
	buf []byte
}

func newPackets(in io.Reader) *packets {
	return &packets{in: bufio.NewReaderSize(in, maxPacket), buf: make([]byte, maxPacket)}
}

// next reads one packet. Its data is valid until the next call. io.EOF means
// that there is no further packet; it is for the caller to say whether that is
// early. An "ERR" packet is a *[RemoteError].
func (p *packets) next() (special, []byte, error) {
	var head [lenSize]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return 0, nil, err // io.EOF only if there is not a single byte
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil || strings.ContainsAny(string(head[:]), "+_"):
		return 0, nil, malformed("%q is not the length of a packet", head)
	case n < emptyLengths:
		return special(n), nil, nil
	case n < lenSize || n > maxPacket:
		return 0, nil, malformed("a packet has the length %d", n)
	}
	data := p.buf[:n-lenSize]
	if _, err := io.ReadFull(p.in, data); err != nil {
		return 0, nil, early(err)
	}
	if message, ok := strings.CutPrefix(string(data[:min(len(data), len(errorPrefix))]), errorPrefix); ok && message == "" {
		return 0, nil, remoteError(data[len(errorPrefix):])
	}
	return dataPacket, data, nil
}

// line reads one packet as a line of text.
func (p *packets) line() (special, string, error) {
	kind, data, err := p.next()
	return kind, strings.TrimSuffix(string(data), "\n"), err
}

// early turns the end of a stream, where it must not be, into an error that
// does not look like a good end.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func remoteError(said []byte) error {
	text := strings.TrimSpace(string(said[:min(len(said), maxRemoteText)]))
	return &RemoteError{Message: text}
}

// appendLine adds a packet with a line of text.
func appendLine(out []byte, format string, args ...any) []byte {
	text := fmt.Sprintf(format, args...) + "\n"
	return fmt.Appendf(out, "%04x%s", len(text)+lenSize, text)
}

func appendSpecial(out []byte, kind special) []byte { return fmt.Appendf(out, "%04x", int(kind)) }
