package inprocess

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// encode returns a request with everything that the client has, and without negotiation.
func encode(req *packp.UploadPackRequest) ([]byte, error) {
	var text bytes.Buffer
	if err := req.UploadRequest.Encode(&text); err != nil {
		return nil, err
	}
	lines := pktline.NewEncoder(&text)
	for _, id := range req.Haves {
		if err := lines.Encodef("have %s\n", id); err != nil {
			return nil, err
		}
	}
	if err := lines.EncodeString("done\n"); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// The channels of a sideband; see gitprotocol-pack(5).
const (
	channelPack     = 1
	channelProgress = 2
	channelError    = 3
)

// sideband is a reader of the pack in an answer that also contains messages. go-git has one as
// well, but it mixes the server's messages with its own errors.
type sideband struct {
	lines *pktline.Scanner
	rest  []byte
}

func (s *sideband) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads one line. An empty line ends the list. The pack itself shows whether it is
// complete.
func (s *sideband) next() error {
	if !s.lines.Scan() {
		// The end of the answer, even in the middle of a line, is not the end of the pack.
		if err := s.lines.Err(); err != nil && !errors.Is(err, io.EOF) {
			return explain(err)
		}
		return io.ErrUnexpectedEOF
	}
	line := s.lines.Bytes()
	if len(line) == 0 {
		return io.EOF
	}
	switch line[0] {
	case channelPack:
		s.rest = line[1:]
	case channelProgress:
	case channelError:
		return failure(Refused, "the server says %s", printable(string(line[1:])))
	default:
		return failure(Broken, "the server's answer has the channel %d, which git does not know", line[0])
	}
	return nil
}

// progressEvery is the minimum interval between two reports of progress.
const progressEvery = 100 * time.Millisecond

// progressReader counts the bytes that are read, and reports them.
type progressReader struct {
	r      io.Reader
	report func(done int64) // may be nil
	done   int64
	last   time.Time
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.done += int64(n)
	if now := time.Now(); p.report != nil && now.Sub(p.last) >= progressEvery {
		p.last = now
		p.report(p.done)
	}
	return n, err
}
