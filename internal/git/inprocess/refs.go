package inprocess

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// maxListing bounds a list of refs. A ref takes some 70 bytes, and an annotated
// tag twice that.
const maxListing = 64 << 20

// Ref is a ref of a repository.
type Ref struct {
	// Name is its full name, such as refs/tags/v1.
	Name string
	// ID is the object that it names, which may be a tag.
	ID string
	// Commit is what an annotated tag leads to, else ID.
	Commit string
}

// Listing is what a repository has.
type Listing struct {
	// Head is the commit of HEAD; "" where there is none.
	Head string
	// Refs are all refs but HEAD, sorted by name.
	Refs []Ref
	// AnyCommit says that commits can be fetched that no ref names.
	AnyCommit bool
}

// Lookup finds the ref of that full name, which may be HEAD.
func (l *Listing) Lookup(name string) (Ref, bool) {
	if name == "HEAD" && l.Head != "" {
		return Ref{Name: name, ID: l.Head, Commit: l.Head}, true
	}
	i, ok := slices.BinarySearchFunc(l.Refs, name, func(r Ref, name string) int { return strings.Compare(r.Name, name) })
	if !ok {
		return Ref{}, false
	}
	return l.Refs[i], true
}

// Leading finds an object that the repository names and that leads to a
// commit at once: the commit itself, or an annotated tag.
func (l *Listing) Leading(commit string) (id string, ok bool) {
	if l.Head == commit {
		return commit, true
	}
	for _, r := range l.Refs {
		if r.ID == commit || r.Commit == commit {
			return r.ID, true
		}
	}
	return "", false
}

func (l *Listing) sort() {
	slices.SortFunc(l.Refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
}

// readRefs reads the list with which every conversation begins.
func readRefs(r io.Reader) (*packp.AdvRefs, error) {
	head := &prefix{}
	refs := packp.NewAdvRefs()
	limited := &limitedReader{r: r, left: maxListing, what: "list of refs"}
	err := refs.Decode(io.TeeReader(limited, head))
	switch {
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return refs, nil // a repository without a commit
	case bytes.Contains(head.text, []byte("object-format=sha256")):
		// Only seen here: go-git's decoder stumbles over the long names.
		return nil, failure(Unsupported, "the repository names its objects by SHA-256")
	case err != nil:
		return nil, unexpected("list of refs", err)
	}
	return refs, nil
}

// unexpected hides what a decoder quotes of the server's bytes.
func unexpected(what string, err error) error {
	if data, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok {
		return failure(Broken, "the server's %s is not in git's format: %s: %s", what, data.Msg, printable(string(data.Data)))
	}
	if errors.Is(err, packp.ErrEmptyInput) {
		return &Error{Kind: Broken, Message: "the server sent no " + what, Err: io.ErrUnexpectedEOF}
	}
	return explain(err)
}

// listing is the list in our own form.
func listing(adv *packp.AdvRefs) *Listing {
	// A server that gives any object announces both.
	l := &Listing{AnyCommit: adv.Capabilities.Supports(capability.AllowReachableSHA1InWant)}
	if adv.Head != nil {
		l.Head = adv.Head.String()
	}
	for name, id := range adv.References {
		r := Ref{Name: name, ID: id.String(), Commit: id.String()}
		if peeled, ok := adv.Peeled[name]; ok {
			r.Commit = peeled.String()
		}
		l.Refs = append(l.Refs, r)
	}
	l.sort()
	return l
}

// prefix keeps the beginning of what is written to it.
type prefix struct{ text []byte }

func (p *prefix) Write(b []byte) (int, error) {
	const enough = 4 << 10 // the first line, with all capabilities
	p.text = append(p.text, b[:min(len(b), max(0, enough-len(p.text)))]...)
	return len(b), nil
}

// limitedReader fails, instead of ending, when there is more than it allows.
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
