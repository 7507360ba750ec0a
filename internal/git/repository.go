package git

import "context"

// Repository is a repository to fetch from. It is not safe for concurrent use.
type Repository interface {
	// Refs lists at least the refs with these full names, or with a prefix that ends in a slash.
	Refs(ctx context.Context, names ...string) (Refs, error)
	// Fetch fetches one commit without its history for read. It may call read again if objects were damaged.
	Fetch(ctx context.Context, want Want, read func(Fetched) error) error
	// Expand returns the only commit that begins with short; "" if there is none, [ErrAmbiguous] if there are
	// several.
	Expand(ctx context.Context, short string) (id string, err error)
	// Reachable is [FindReach], with the answers by ID. An error means that nothing is known.
	Reachable(ctx context.Context, commits []Want, limits HistoryLimits) (map[string]Reach, error)
	// Received returns how many bytes were transferred, as far as it is known.
	Received() int64
	Close() error
}

type Fetched struct {
	// ID is a commit, or a tag that points to it.
	ID string
	// Chosen is zero if no ref was requested.
	Chosen  Chosen
	Objects Objects
}
