package inprocess

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// Want describes what to fetch.
type Want struct {
	// IDs are the names of the wanted objects. Refs must point to them, unless the repository
	// also sends other commits.
	IDs []string
	// History requests the wanted commits with all their ancestors, instead of only the
	// commits.
	History bool
	// OnlyCommits leaves out trees and files if the server supports that.
	OnlyCommits bool
	// Have are the names of commits whose history is left out if the server has them.
	Have []string
	// Bytes bounds the size of the pack, in bytes, in addition to [Limits]; 0 means no further
	// limit.
	Bytes int64
}

// Transport exchanges messages with a git-upload-pack process.
type Transport interface {
	// Refs passes the list of refs to read. It may call read again, with the whole list, after
	// a failure that may be temporary.
	Refs(ctx context.Context, read func(io.Reader) error) error
	// Ask sends a request and passes the answer to read. Like Refs, it may call read again.
	// Refs must be called before Ask.
	Ask(ctx context.Context, request []byte, read func(io.Reader) error) error
	Close() error
}

// Remote is a repository on a server.
type Remote struct {
	Transport Transport
	// Dir is the caller's directory for packs.
	Dir    string
	Limits Limits
	// Progress is called with the number of bytes that were received so far. It may be nil.
	Progress func(done int64)

	offered  *capability.List
	packs    int
	received int64
}

// List implements [Source].
func (r *Remote) List(ctx context.Context) (*Listing, error) {
	var adv *packp.AdvRefs
	err := r.Transport.Refs(ctx, func(list io.Reader) (err error) {
		adv, err = readRefs(list)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.offered = adv.Capabilities
	return listing(adv), nil
}

// Fetch implements [Source]. List must be called before. The caller must close the result.
func (r *Remote) Fetch(ctx context.Context, want Want) (*Objects, error) {
	objects, err := r.fetch(ctx, want)
	if failed, ok := errors.AsType[*Error](err); ok && want.OnlyCommits && failed.Says("filter") {
		// The server supports filters, but not this one.
		want.OnlyCommits = false
		return r.fetch(ctx, want)
	}
	return objects, err
}

func (r *Remote) fetch(ctx context.Context, want Want) (*Objects, error) {
	request, err := r.request(want)
	if err != nil {
		return nil, err
	}
	var objects *Objects
	err = r.Transport.Ask(ctx, request.text, func(answer io.Reader) error {
		r.packs++
		p := pack{dir: r.Dir, name: fmt.Sprintf("pack-%d", r.packs), limits: r.Limits}
		if want.Bytes > 0 {
			p.limits.PackBytes = min(p.limits.PackBytes, want.Bytes)
		}
		stream, err := request.packOf(answer)
		if err != nil {
			return err
		}
		counted := &progressReader{r: stream, report: throttled(r.Progress), done: r.received}
		objects, err = p.receive(ctx, counted)
		r.received = counted.done
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.Progress != nil {
		r.Progress(r.received)
	}
	return objects, nil
}

// Received returns the number of bytes of packs that were received.
func (r *Remote) Received() int64 {
	return r.received
}

// Close ends the connection.
func (r *Remote) Close() error { return r.Transport.Close() }

// uploadRequest is a request, with the information that is needed to read its answer.
type uploadRequest struct {
	*packp.UploadPackRequest
	text []byte
}

func (r *Remote) request(want Want) (*uploadRequest, error) {
	req := packp.NewUploadPackRequest()
	for _, id := range want.IDs {
		req.Wants = append(req.Wants, plumbing.NewHash(id))
	}
	// The forms of acknowledgement differ only for a client that already has objects; skipAcks
	// reads all of them. Some servers require one of them (Azure DevOps). Choosing it here avoids go-git's list of
	// refused capabilities, which is shared by the whole process.
	r.choose(req, capability.MultiACKDetailed, capability.MultiACK)
	r.choose(req, capability.Sideband64k, capability.Sideband)
	r.choose(req, capability.OFSDelta)
	if !want.History && r.choose(req, capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
	}
	if want.OnlyCommits && r.choose(req, capability.Filter) {
		req.Filter = packp.FilterTreeDepth(0)
	}
	if r.offered.Supports(capability.Agent) {
		if err := req.Capabilities.Set(capability.Agent, "git/cotter"); err != nil {
			return nil, err
		}
	}
	for _, id := range want.Have {
		req.Haves = append(req.Haves, plumbing.NewHash(id))
	}
	text, err := encode(req)
	return &uploadRequest{req, text}, err
}

// choose requests the first of the named capabilities that the server offers. It reports
// whether there is one.
func (r *Remote) choose(req *packp.UploadPackRequest, names ...capability.Capability) bool {
	for _, name := range names {
		if r.offered.Supports(name) {
			return req.Capabilities.Set(name) == nil
		}
	}
	return false
}

// packOf reads an answer up to the beginning of the pack, and returns a reader of the pack.
func (u *uploadRequest) packOf(answer io.Reader) (io.Reader, error) {
	in := bufio.NewReader(answer)
	if !u.Depth.IsZero() {
		var shallow packp.ShallowUpdate
		if err := shallow.Decode(in); err != nil {
			return nil, unexpected("answer", err)
		}
	}
	if err := u.skipAcks(in); err != nil {
		return nil, err
	}
	if u.Capabilities.Supports(capability.Sideband64k) || u.Capabilities.Supports(capability.Sideband) {
		return &sideband{lines: pktline.NewScanner(in)}, nil
	}
	return in, nil
}

// skipAcks reads the answer to the list of objects that the client has: lines that begin with
// "NAK", or with "ACK" and the name of an object. Depending on the form of acknowledgement there
// is one line, or one for each object and a last one, so skipAcks reads up to the first other
// line.
func (u *uploadRequest) skipAcks(in *bufio.Reader) error {
	const prefix = len("0000ACK")
	lines := pktline.NewScanner(in)
	for range 2*len(u.Haves) + 2 {
		if !lines.Scan() {
			return unexpected("answer", cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
		}
		if line := string(lines.Bytes()); !strings.HasPrefix(line, "ACK ") && strings.TrimSpace(line) != "NAK" {
			return failure(Broken, "the server's answer is not in git's format: %s", printable(line))
		}
		ahead, err := in.Peek(prefix)
		if err != nil || !strings.HasSuffix(string(ahead), "ACK") && !strings.HasSuffix(string(ahead), "NAK") {
			return nil // reading the pack shows the error
		}
	}
	return failure(Broken, "the server's answer has too many acknowledgements")
}

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
	part, err := gitwire.PackPart(line)
	if said, ok := errors.AsType[*gitwire.RemoteError](err); ok {
		return failure(Refused, "the server says %s", printable(said.Message))
	}
	if err != nil {
		return failure(Broken, "the server's answer has the channel %d, which git does not know", line[0])
	}
	s.rest = part
	return nil
}

// progressInterval is the minimum interval between two reports of progress.
const progressInterval = 100 * time.Millisecond

// throttled returns a function that calls report at most once in an interval. It returns nil if
// report is nil.
func throttled(report func(done int64)) func(done int64) {
	if report == nil {
		return nil
	}
	last := time.Now()
	return func(done int64) {
		if now := time.Now(); now.Sub(last) >= progressInterval {
			last = now
			report(done)
		}
	}
}

// progressReader counts the bytes that are read, and reports them.
type progressReader struct {
	r      io.Reader
	report func(done int64) // may be nil
	done   int64
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.done += int64(n)
	if p.report != nil {
		p.report(p.done)
	}
	return n, err
}
