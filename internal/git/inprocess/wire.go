package inprocess

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// encode writes a request of a client that has nothing yet.
func encode(req *packp.UploadPackRequest) ([]byte, error) {
	var text bytes.Buffer
	if err := req.UploadRequest.Encode(&text); err != nil {
		return nil, err
	}
	if err := pktline.NewEncoder(&text).EncodeString("done\n"); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// The channels of a sideband, by gitprotocol-pack(5).
const (
	channelPack     = 1
	channelProgress = 2
	channelError    = 3
)

// sideband is the pack out of what a server sends beside its messages. go-git
// has one as well, which mixes the server's words into errors of its own.
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

// next reads one line. The list ends with an empty one; whether the pack is
// complete is for it to say.
func (s *sideband) next() error {
	if !s.lines.Scan() {
		// The end of the answer, also behind half a line, is not that of the pack.
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

// progressEvery is how often progress is reported at most.
const progressEvery = 100 * time.Millisecond

// progressReader counts what is read.
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
