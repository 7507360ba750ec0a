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
	// maxPacket is LARGE_PACKET_MAX, with the length field.
	maxPacket = 65520
	lenSize   = 4
)

// special is a kind of packet without content, or dataPacket.
type special int

const (
	dataPacket    special = -1
	flushPacket   special = 0
	delimPacket   special = 1
	endPacket     special = 2
	emptyLengths          = 3 // lengths below this are special packets; length 3 is invalid
	errorPrefix           = "ERR "
	maxRemoteText         = 1000 // limit for the server's text in an error, in bytes
)

type packets struct {
	in    *bufio.Reader
	buf   []byte
	ended func()
}

func newPackets(in io.Reader, ended func()) *packets {
	return &packets{in: bufio.NewReaderSize(in, maxPacket), buf: make([]byte, maxPacket), ended: ended}
}

// next returns data that is valid until the next call. The caller decides whether io.EOF is early.
func (p *packets) next() (special, []byte, error) {
	var head [lenSize]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return 0, nil, err // io.EOF only if there is no byte at all
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

func (p *packets) line() (special, string, error) {
	kind, data, err := p.next()
	return kind, strings.TrimSuffix(string(data), "\n"), err
}

// early is for a stream that must not end yet.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func appendLine(out []byte, format string, args ...any) []byte {
	text := fmt.Sprintf(format, args...) + "\n"
	return fmt.Appendf(out, "%04x%s", len(text)+lenSize, text)
}

func appendSpecial(out []byte, kind special) []byte { return fmt.Appendf(out, "%04x", int(kind)) }
