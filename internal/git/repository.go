package git

import "context"

// Repository is a repository to fetch from. It is not safe for concurrent use.
type Repository interface {
	// Refs lists the refs with these full names. A name that ends in a slash stands for all
	// refs that begin with it. The result may contain further refs.
	Refs(ctx context.Context, names ...string) (Refs, error)
	// Fetch fetches one commit without its history and calls read with it. It may call read
	// again with newly fetched objects, if the previous ones turn out to be damaged. It returns
	// the error of read, if there is one.
	Fetch(ctx context.Context, want Want, read func(Fetched) error) error
	// Expand returns the only commit whose name begins with short, or "" if there is none. The
	// error wraps [ErrAmbiguous] if there are several. It may have to fetch all commits.
	Expand(ctx context.Context, short string) (id string, err error)
	// Reachable determines for each commit whether it is in the history of a branch or a tag,
	// and returns the answers by the IDs of the commits. The Ref of a commit is searched first.
	// No trees and files are fetched if the server can leave them out. Everything together is
	// bounded by the limits. An error means that nothing is known about any of the commits.
	Reachable(ctx context.Context, commits []Want, limits HistoryLimits) (map[string]Reach, error)
	// Received returns the number of bytes that were transferred, as far as it is known.
	Received() int64
	// Close releases the resources of the repository.
	Close() error
}

// Fetched is a fetched commit.
type Fetched struct {
	// ID is the name of the commit, or of a tag that points to it.
	ID string
	// Chosen is the ref that was used; the zero value if the commit was not requested by a ref.
	Chosen  Chosen
	Objects Objects
}
