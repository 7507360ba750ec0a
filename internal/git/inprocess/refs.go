package inprocess

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// Listing lists the refs of a repository.
type Listing struct {
	// Refs are all refs, including HEAD if it points to a commit.
	Refs git.Refs
	// AnyCommit is set if commits can be fetched to which no ref points.
	AnyCommit bool
}

// leading returns an object that a ref points to and that is the commit, or an annotated tag
// that points to it.
func (l *Listing) leading(commit string) (id string, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(l.Refs)) {
		if ref := l.Refs[name]; ref.ID == commit || ref.Commit == commit {
			return ref.ID, true
		}
	}
	return "", false
}

// tips returns the objects that branches and tags point to, sorted by the names of the refs.
func (l *Listing) tips() []string {
	var ids []string
	for _, name := range slices.Sorted(maps.Keys(l.Refs)) {
		if strings.HasPrefix(name, git.Heads) || strings.HasPrefix(name, git.Tags) {
			ids = append(ids, l.Refs[name].ID)
		}
	}
	return ids
}

// readRefs reads the list of refs with which every conversation begins.
func readRefs(r io.Reader) (*packp.AdvRefs, error) {
	head := &prefix{}
	refs := packp.NewAdvRefs()
	limited := &limitedReader{r: r, left: git.MaxRefBytes, what: "list of refs"}
	err := refs.Decode(io.TeeReader(limited, head))
	switch {
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return refs, nil // a repository without commits
	case bytes.Contains(head.text, []byte("object-format=sha256")):
		// This is only detected here, because go-git's decoder fails on the long names.
		return nil, failure(Unsupported, "the repository names its objects by SHA-256")
	case err != nil:
		return nil, unexpected("list of refs", err)
	}
	return refs, nil
}

// unexpected replaces the errors of a decoder, because these quote bytes from the server.
func unexpected(what string, err error) error {
	if data, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok {
		return failure(Broken, "the server's %s is not in git's format: %s: %s", what, data.Msg, printable(string(data.Data)))
	}
	if errors.Is(err, packp.ErrEmptyInput) {
		return &Error{Kind: Broken, Message: "the server sent no " + what, Err: io.ErrUnexpectedEOF}
	}
	return explain(err)
}

// listing converts go-git's list of refs to a Listing.
func listing(adv *packp.AdvRefs) *Listing {
	// A server that allows any object announces both capabilities.
	l := &Listing{Refs: git.Refs{}, AnyCommit: adv.Capabilities.Supports(capability.AllowReachableSHA1InWant)}
	if adv.Head != nil {
		l.Refs[git.Head] = git.Ref{ID: adv.Head.String(), Commit: adv.Head.String()}
	}
	for name, id := range adv.References {
		ref := git.Ref{ID: id.String(), Commit: id.String()}
		if peeled, ok := adv.Peeled[name]; ok {
			ref.Commit = peeled.String()
		}
		l.Refs[name] = ref
	}
	return l
}

// prefix keeps the beginning of the data that is written to it.
type prefix struct{ text []byte }

func (p *prefix) Write(b []byte) (int, error) {
	const enough = 4 << 10 // enough for the first line, with all capabilities
	p.text = append(p.text, b[:min(len(b), max(0, enough-len(p.text)))]...)
	return len(b), nil
}

// limitedReader is a reader that returns an error if there is more data than allowed.
type limitedReader struct {
	r    io.Reader
	left int64
	what string
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, failure(TooLarge, "the %s is longer than allowed", l.what)
	}
	return n, err
}
