package inprocess

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// Want says what to fetch.
type Want struct {
	// IDs are objects that the repository names, or any commits where it gives
	// those.
	IDs []string
	// History asks for all commits that lead to them, instead of those alone.
	History bool
	// OnlyCommits leaves out trees and files where the server can do that.
	OnlyCommits bool
}

// Transport carries conversations with a git-upload-pack.
type Transport interface {
	// Refs hands over the list of refs. It may call read again, with the whole
	// list, after a failure that may pass.
	Refs(ctx context.Context, read func(io.Reader) error) error
	// Ask sends a request and hands over the answer, again likewise. Refs was
	// called before.
	Ask(ctx context.Context, request []byte, read func(io.Reader) error) error
	Close() error
}

// Remote is a repository at a server.
type Remote struct {
	Transport Transport
	// Dir is a directory of the caller's for packs.
	Dir    string
	Limits Limits
	// Progress is called with the bytes that came so far; nil is fine.
	Progress func(done int64)

	offered  *capability.List
	packs    int
	received int64
}

// Limits bound what a fetch may cost.
type Limits struct {
	// PackBytes bounds what is transferred, ObjectBytes a single object.
	PackBytes, ObjectBytes int64
}

// List asks for all refs.
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

// Fetch brings objects. List was called before. The result must be closed.
func (r *Remote) Fetch(ctx context.Context, want Want) (*Objects, error) {
	request, err := r.request(want)
	if err != nil {
		return nil, err
	}
	var objects *Objects
	err = r.Transport.Ask(ctx, request.text, func(answer io.Reader) error {
		r.packs++
		p := pack{dir: r.Dir, name: fmt.Sprintf("pack-%d", r.packs), limits: r.Limits}
		stream, err := request.packOf(answer)
		if err != nil {
			return err
		}
		counted := &progressReader{r: stream, report: r.Progress, done: r.received}
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

// Received is how many bytes of packs came.
func (r *Remote) Received() int64 {
	return r.received
}

// Close ends the connection.
func (r *Remote) Close() error { return r.Transport.Close() }

// uploadRequest is a request and what is needed to read its answer.
type uploadRequest struct {
	*packp.UploadPackRequest
	text []byte
}

func (r *Remote) request(want Want) (*uploadRequest, error) {
	req := packp.NewUploadPackRequest()
	for _, id := range want.IDs {
		req.Wants = append(req.Wants, plumbing.NewHash(id))
	}
	// The several forms of acknowledgement only differ for a client that has
	// something already. Some servers insist on one (Azure DevOps), and to say
	// so here avoids go-git's list of refused capabilities, which is one for
	// all of the process.
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
	text, err := encode(req)
	return &uploadRequest{req, text}, err
}

// choose asks for the first of some capabilities that the server offers.
func (r *Remote) choose(req *packp.UploadPackRequest, names ...capability.Capability) bool {
	for _, name := range names {
		if r.offered.Supports(name) {
			return req.Capabilities.Set(name) == nil
		}
	}
	return false
}

// packOf reads an answer up to where the pack begins.
func (u *uploadRequest) packOf(answer io.Reader) (io.Reader, error) {
	in := bufio.NewReader(answer)
	if !u.Depth.IsZero() {
		var shallow packp.ShallowUpdate
		if err := shallow.Decode(in); err != nil {
			return nil, unexpected("answer", err)
		}
	}
	var acks packp.ServerResponse
	if err := acks.Decode(in, false); err != nil {
		return nil, unexpected("answer", err)
	}
	if u.Capabilities.Supports(capability.Sideband64k) || u.Capabilities.Supports(capability.Sideband) {
		return &sideband{lines: pktline.NewScanner(in)}, nil
	}
	return in, nil
}
