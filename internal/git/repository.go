package git

import "context"

// Repository is a repository to fetch from. It is not safe for concurrent use.
type Repository interface {
	// Refs lists the refs with these full names. The servers of some refs list
	// more of them. Names that end in a slash stand for all that begin so.
	Refs(ctx context.Context, names ...string) (Refs, error)
	// Fetch brings one commit without its history and calls read with it. It may
	// call read once more, with what it fetched again, if what it had before
	// turns out to be damaged. The error may be that of read.
	Fetch(ctx context.Context, want Want, read func(Fetched) error) error
	// Expand returns the only commit whose name begins with the digits of short,
	// or "" without one. It may have to fetch all commits.
	Expand(ctx context.Context, short string) (id string, err error)
	// Received returns the bytes that were transferred, as far as that is known.
	Received() int64
	// Close releases what the repository holds.
	Close() error
}

// Want says which commit to fetch.
type Want struct {
	// ID is the name of the commit; "" means that of Ref.
	ID string
	// Ref is a ref, whole or in short, as [Candidates] takes it, or the beginning
	// of a commit's name if there is no such ref. If ID is set, it is where a
	// server that gives no single commits may have it.
	Ref string
}

// Known returns the full name of the commit, if it is known beforehand: Want.ID,
// or Want.Ref if that is one. Otherwise it returns "".
func (w Want) Known() string {
	switch {
	case w.ID != "":
		return w.ID
	case IsObjectID(w.Ref):
		return w.Ref
	}
	return ""
}

// Fetched is a commit that was fetched.
type Fetched struct {
	// ID is the name of the commit, or of a tag that points to it.
	ID string
	// Chosen is the ref that was taken; the zero value if none was asked for.
	Chosen  Chosen
	Objects Objects
}
