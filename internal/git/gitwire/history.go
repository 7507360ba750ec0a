package gitwire

import (
	"context"
	"io"
)

// maxGrafts bounds the number of commits that a shallow repository may list in an answer with a
// history.
const maxGrafts = 100_000

// History describes which commits to fetch, and the limit.
type History struct {
	// Want are the names of commits, or of tags that point to one. Their history is fetched.
	Want []string
	// Have are the names of commits whose history is left out. The server ignores those that it
	// does not have.
	Have []string
	// Filter says which objects are left out, as in git-rev-list(1): "tree:0" for all trees and
	// files. "" means none. It requires the feature "filter" of the command "fetch"; see
	// [Client.Features]. Servers can refuse some filters.
	Filter string
	// Bytes bounds the size of the pack, in bytes.
	Bytes int64
	// Progress is as for [Fetch].
	Progress func(bytes int64)
}

// History starts to fetch a history. The result and the errors are as for [Client.Fetch].
func (c *Client) History(ctx context.Context, h History) (io.ReadCloser, error) {
	var arguments []string
	if h.Filter != "" {
		arguments = append(arguments, "filter "+h.Filter)
	}
	for _, id := range h.Want {
		arguments = append(arguments, "want "+id)
	}
	for _, id := range h.Have {
		arguments = append(arguments, "have "+id)
	}
	return c.fetch(ctx, arguments, maxGrafts, &packStream{left: h.Bytes, progress: h.Progress})
}
