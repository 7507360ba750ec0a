package gitwire

import (
	"context"
	"io"
)

// Client is safe for concurrent use if its Transport is.
type Client struct {
	Transport Transport
}

// Transport leads to the git-upload-pack of one repository.
type Transport interface {
	// Ask returns the answer to a request of version 2. The caller must close it.
	Ask(ctx context.Context, request []byte) (Answer, error)
	// Advertisement returns what the server says it supports. The caller must close it.
	Advertisement(ctx context.Context) (io.ReadCloser, error)
	Close() error
}

type Answer interface {
	io.ReadCloser
	// Ended is called after the last packet, after which a connection stays open.
	Ended()
}
