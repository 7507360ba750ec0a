package gcs

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cotterpin/cotter/internal/pause"
)

// projectHeader names the quota project.
const projectHeader = "X-Goog-User-Project"

// maxMessage bounds what is read of an answer that is an error.
const maxMessage = 64 << 10

// send asks for something and has the answer's body read, again where that may
// help. read may be called several times.
func (b *bucket) send(ctx context.Context, path string, read func(*http.Response) error) error {
	for tries := 1; ; tries++ {
		if err := b.getter.pauses.Wait(ctx, b.endpoint); err != nil {
			return err
		}
		err := b.try(ctx, path, read)
		if err == nil || ctx.Err() != nil {
			return ctxOr(ctx, err)
		}
		if !isTransient(err) {
			return err
		}
		if tries > b.getter.retries() {
			return tried(err, tries)
		}
		if status, ok := errors.AsType[*statusError](err); ok && status.pause.Asked && b.getter.Backoff == nil {
			b.getter.pauses.Ask(b.endpoint, status.pause.Wait)
			continue
		}
		if err := pause.Sleep(ctx, b.getter.backoff(tries)); err != nil {
			return err
		}
	}
}

// try asks once.
func (b *bucket) try(ctx context.Context, path string, read func(*http.Response) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.endpoint+"/storage/v1/b/"+path, http.NoBody)
	if err != nil {
		return err
	}
	used, err := b.getter.credentials(ctx, b.http)
	if err != nil {
		return err
	}
	if used.token != nil {
		used.token.SetAuthHeader(request)
		if used.project != "" {
			request.Header.Set(projectHeader, used.project)
		}
	}
	answer, err := b.http.Do(request)
	if err != nil {
		return &networkError{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return newStatusError(answer, used)
	}
	answer.Body = readErrors{answer.Body}
	return read(answer)
}

// ctxOr is err, unless it is the end of ctx that became it.
func ctxOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readErrors tells errors of the network from those of the file into which a
// body is copied.
type readErrors struct{ io.ReadCloser }

func (r readErrors) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &networkError{err}
	}
	return n, err
}
