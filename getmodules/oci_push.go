package getmodules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/oci"
)

// PushError is a failed push. It wraps the same errors as [FetchError].
type PushError struct {
	Repository string
	Err        error
}

func (e *PushError) Error() string { return fmt.Sprintf("cannot push to %q: %s", e.Repository, e.Err) }

func (e *PushError) Unwrap() error { return e.Err }

// OCIWriter stores artifacts in a repository of an OCI registry, with the limits, credentials and retries
// of a Fetcher. It is safe for concurrent use. The errors of its methods are *[PushError].
type OCIWriter struct {
	repository *ociRepository
	shown      string
}

var errReadOnly = errors.New("the repositories of Fetcher.OCI can only be read")

// OCIWriter returns a writer to a repository, without sending a request. host is HOST or HOST:PORT. The
// error is a *[FetchError] about the address. With [Fetcher].OCI, the writer's methods fail.
func (f *Fetcher) OCIWriter(host, repository string) (*OCIWriter, error) {
	addr, shown, err := f.ociAddress(host, repository)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	return &OCIWriter{f.ociRepository(addr, nil), shown}, nil
}

func (c *OCIWriter) push(ctx context.Context, run func() error) error {
	err := errReadOnly
	if c.repository.fetcher.OCI == nil {
		err = c.repository.repeat(ctx, run)
	}
	if err != nil {
		return &PushError{c.shown, err}
	}
	return nil
}

// PushBlob uploads a file with the digest and size of the blob, and reports whether it did: without always
// not if the repository has the blob, whose copy may be damaged. Registries may ignore an upload of what
// they have.
func (c *OCIWriter) PushBlob(ctx context.Context, blob ocispec.Descriptor, file io.ReaderAt, always bool) (pushed bool, err error) {
	err = c.push(ctx, func() error {
		if !always {
			if has, err := c.repository.hasBlob(ctx, blob); has || err != nil {
				return err
			}
		}
		pushed = true
		return c.repository.remote.Blobs().Push(ctx, blob, io.NewSectionReader(file, 0, blob.Size))
	})
	return pushed && err == nil, err
}

func (r *ociRepository) hasBlob(ctx context.Context, blob ocispec.Descriptor) (bool, error) {
	if !oci.IsDigest(blob.Digest.String()) {
		return false, fmt.Errorf("%w: the digest of a blob is %q", ErrOCIContent, blob.Digest)
	}
	_, err := r.remote.Blobs().Resolve(ctx, blob.Digest.String())
	switch status, ok := errors.AsType[*httpx.StatusError](err); {
	case errors.Is(err, errdef.ErrNotFound), ok && status.Answer.StatusCode == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// PushManifest stores a manifest or an index, and makes a tag point to it, which may be its digest. What it
// refers to must already be in the repository.
func (c *OCIWriter) PushManifest(ctx context.Context, tag, mediaType string, text []byte) error {
	descriptor := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	return c.push(ctx, func() error {
		return c.repository.remote.Manifests().PushReference(ctx, descriptor, bytes.NewReader(text), tag)
	})
}
