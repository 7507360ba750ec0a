package gitwire

import (
	"errors"
	"fmt"
	"io"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
)

// The channels of gitprotocol-pack(5): the first byte of a packet names one.
const (
	packChannel     = 1
	progressChannel = 2
	errorChannel    = 3
)

// maxSilent bounds packets in a row without a byte of the pack: one every few seconds for a day.
const maxSilent = 20_000

// packStream returns io.EOF only if the answer also ends after the pack.
type packStream struct {
	*packets
	body     io.Closer
	limit    int64 // of all that the server sends, progress included, in bytes
	left     int64
	disk     *packagelimits.Disk // for which all that counts too
	got      int64
	progress func(int64)
	rest     []byte // the unread data of the last packet
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
		case kind != dataPacket, len(data) == 0:
			return nil, malformed("a packet of the pack has no channel")
		}
		if s.left -= int64(len(data)) - 1; s.left < 0 {
			return nil, fmt.Errorf("%w: %w", git.ErrTooLarge, &packagelimits.Error{Limit: packagelimits.OfDownload, Max: s.limit})
		}
		if err := s.disk.Take(int64(len(data)) - 1); err != nil {
			return nil, err
		}
		switch channel, part := data[0], data[1:]; {
		case channel == errorChannel:
			return nil, remoteError(part)
		case channel == packChannel && len(part) > 0:
			s.count(len(part))
			return part, nil
		case channel != packChannel && channel != progressChannel:
			return nil, malformed("a packet of the pack has the channel %d", channel)
		}
	}
	return nil, errors.New("the git server sends nothing but keep-alive packets")
}

func (s *packStream) Close() error { return s.body.Close() }

func (s *packStream) count(n int) {
	s.got += int64(n)
	if s.progress != nil {
		s.progress(s.got)
	}
}
