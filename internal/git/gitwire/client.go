package gitwire

import (
	"context"
	"io"
)

// Client sends requests to one repository. It is safe for concurrent use if its Transport is.
type Client struct {
	Transport Transport
}

// Transport exchanges messages with the git-upload-pack of one repository. [HTTP] and
// [Session] implement it.
type Transport interface {
	// Ask sends a request of version 2 and returns the answer. The caller must close it.
	Ask(ctx context.Context, request []byte) (io.ReadCloser, error)
	// Advertisement returns what the server says it supports. The caller must close it.
	Advertisement(ctx context.Context) (io.ReadCloser, error)
	// Close ends the conversation, if there is one.
	Close() error
}
