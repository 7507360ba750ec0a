package ctxerr

import (
	"context"
	"io"
)

// Reader returns a reader whose reads fail after ctx has ended.
func Reader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := Of(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
