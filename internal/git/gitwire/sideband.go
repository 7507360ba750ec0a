package gitwire

import (
	"errors"
	"fmt"
	"io"
)

// The channels over which a pack comes, by the first byte of each packet.
const (
	packChannel     = 1
	progressChannel = 2
	errorChannel    = 3
)

// maxSilent bounds the packets without a byte of the pack between two with
// some: a sign of life every few seconds for a day.
const maxSilent = 20_000

// packStream is the pack out of the packets that carry it. io.EOF is at the
// packet that ends it and the answer, and nowhere else.
type packStream struct {
	*packets
	body     io.Closer
	left     int64 // what the pack may still have
	got      int64
	progress func(int64)
	rest     []byte // of the last packet
	err      error
}

func (s *packStream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.rest) == 0 && s.err == nil {
		s.rest, s.err = s.fill()
	}
	if s.err != nil {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// fill reads the next packet with a part of the pack.
func (s *packStream) fill() ([]byte, error) {
	for range maxSilent {
		kind, data, err := s.next()
		switch {
		case err != nil:
			return nil, early(err)
		case kind == flushPacket:
			if err := s.end(); err != nil {
				return nil, err
			}
			return nil, io.EOF
		case kind != dataPacket || len(data) == 0:
			return nil, malformed("a packet of the pack has no channel")
		}
		switch channel, data := data[0], data[1:]; {
		case channel == errorChannel:
			return nil, remoteError(data)
		case channel == packChannel && len(data) > 0:
			return data, s.count(len(data))
		case channel > errorChannel || channel == 0:
			return nil, malformed("a packet of the pack has the channel %d", channel)
		}
	}
	return nil, errors.New("the git server sends signs of life and nothing else")
}

// Close closes the answer.
func (s *packStream) Close() error { return s.body.Close() }

func (s *packStream) count(n int) error {
	s.got += int64(n)
	if s.left -= int64(n); s.left < 0 {
		return fmt.Errorf("%w: over %d bytes", ErrTooLarge, s.got-int64(n))
	}
	if s.progress != nil {
		s.progress(s.got)
	}
	return nil
}
