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

	"github.com/cotterpin/cotter/internal/httpx"
)

// PushError is a failed push to a repository of an OCI registry. It wraps the same errors
// as [FetchError].
type PushError struct {
	// Repository is the address of the repository.
	Repository string
	Err        error
}

func (e *PushError) Error() string { return fmt.Sprintf("cannot push to %q: %s", e.Repository, e.Err) }

func (e *PushError) Unwrap() error { return e.Err }

// failPush is like fail, but returns a *PushError.
func (c *OCIContent) failPush(err error) error {
	if err == nil {
		return nil
	}
	return &PushError{c.shown, err}
}

// PushBlob uploads the content of a file to the repository, unless the repository already has
// the blob. It reports whether it uploaded the blob. The file must have the digest and the size
// of the blob.
func (c *OCIContent) PushBlob(ctx context.Context, blob OCIBlob, file io.ReaderAt) (pushed bool, err error) {
	if !ociDigest.MatchString(blob.Digest) {
		return false, c.failPush(fmt.Errorf("%w: the digest of a blob is %q", ErrOCIContent, blob.Digest))
	}
	descriptor := ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.Digest(blob.Digest), Size: blob.Size}
	err = c.repository.repeat(ctx, func() error {
		has, err := c.repository.hasBlob(ctx, blob.Digest)
		if has || err != nil {
			return err
		}
		pushed = true
		return c.repository.Blobs().Push(ctx, descriptor, io.NewSectionReader(file, 0, blob.Size))
	})
	return pushed && err == nil, c.failPush(err)
}

// UploadBlob is like PushBlob, but does not check whether the repository already has the blob,
// because that copy may be damaged. Registries may ignore the upload of a blob that they have.
func (c *OCIContent) UploadBlob(ctx context.Context, blob OCIBlob, file io.ReaderAt) error {
	if !ociDigest.MatchString(blob.Digest) {
		return c.failPush(fmt.Errorf("%w: the digest of a blob is %q", ErrOCIContent, blob.Digest))
	}
	descriptor := ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.Digest(blob.Digest), Size: blob.Size}
	return c.failPush(c.repository.repeat(ctx, func() error {
		return c.repository.Blobs().Push(ctx, descriptor, io.NewSectionReader(file, 0, blob.Size))
	}))
}

// hasBlob reports whether the repository has a blob.
func (r *ociRepository) hasBlob(ctx context.Context, digest string) (bool, error) {
	_, err := r.Blobs().Resolve(ctx, digest)
	switch status, ok := errors.AsType[*httpx.StatusError](err); {
	case errors.Is(err, errdef.ErrNotFound), ok && status.Answer.StatusCode == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// PushManifest stores a manifest and makes a tag point to it. The blobs that it refers to must
// already be in the repository. The error is a *[PushError].
func (c *OCIContent) PushManifest(ctx context.Context, tag, mediaType string, text []byte) error {
	descriptor := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	return c.failPush(c.repository.repeat(ctx, func() error {
		return c.repository.Manifests().PushReference(ctx, descriptor, bytes.NewReader(text), tag)
	}))
}

// upload sends a request that changes the registry. Its URL may be one that the registry has
// named for an upload. The caller refuses other hosts and paths.
func (t *ociTransport) upload(req *http.Request) (*http.Response, error) {
	ctx, guard := t.registry.Floor.Watch(req.Context())
	sent := req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		sent.Body = &guardedBody{req.Body, guard}
	}
	client := *t.registry
	client.Floor, client.MaxRedirects = httpx.Floor{}, 0 // the guard measures what is sent
	answer, err := client.Send(sent)
	defer guard.Stop()
	if err != nil {
		if stalled := guard.Err(); stalled != nil {
			return nil, &httpx.NetworkError{Err: stalled}
		}
		return nil, err
	}
	answer.Request = req
	if answer.StatusCode/100 != 2 && answer.StatusCode != http.StatusUnauthorized {
		defer answer.Body.Close()
		return nil, answer.StatusError()
	}
	return readOCIMetadata(answer)
}

// guardedBody is a request body. Bytes that are read from it count as progress of the transfer.
type guardedBody struct {
	io.ReadCloser
	guard *httpx.Guard
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.guard.Add(n)
	return n, err
}
