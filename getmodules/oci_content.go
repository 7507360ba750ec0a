package getmodules

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/oci"
)

// OCIContent reads any kind of artifact from a repository of an OCI registry, such as the
// provider packages of a mirror. [Fetcher.OCIContent] returns one. It is safe for concurrent
// use. The errors of its methods are of type *[FetchError], or *[PushError] for pushes.
type OCIContent struct {
	repository *ociRepository
	shown      string
}

// OCIManifest is a manifest or an index.
type OCIManifest struct {
	MediaType, Digest string
	Text              []byte
}

// OCIBlob identifies a blob by its digest and its size in bytes.
type OCIBlob struct {
	Digest string
	Size   int64
}

// OCIContent opens a repository of a registry without sending a request. host is HOST or
// HOST:PORT. Requests have the same limits, credentials and retries as those of Fetch.
func (f *Fetcher) OCIContent(host, repository string) (*OCIContent, error) {
	pkg := addrs.ParseModulePackage("oci://" + host + "/" + repository)
	addr, err := parseOCIAddress(pkg)
	if err == nil && addr.repository != repository { // the host may be spelled otherwise: "1" is 0.0.0.1
		err = badOCI("%q is not the name of a repository", host+"/"+repository)
	}
	if err != nil {
		return nil, fetchError(pkg.Redacted(), err)
	}
	return &OCIContent{f.ociRepository(addr), pkg.Redacted()}, nil
}

// Tags lists the tags of the repository; see [OCIRepository].
func (c *OCIContent) Tags(ctx context.Context, last string, page func(tags []string) error) error {
	return c.fail(c.repository.tags(ctx, last, page))
}

// Manifest returns the manifest that a tag or a digest points to. Its text is checked against
// its digest. The error wraps fs.ErrNotExist if the tag or the digest does not exist.
func (c *OCIContent) Manifest(ctx context.Context, reference string) (OCIManifest, error) {
	var found OCIManifest
	err := c.repository.repeat(ctx, func() (err error) {
		found, err = c.repository.manifest(ctx, reference)
		return err
	})
	if err != nil {
		return OCIManifest{}, c.fail(err)
	}
	return found, nil
}

// Blob writes a blob to the file, from its beginning, and checks its size and digest. progress,
// which may be nil, is called with the number of bytes so far and the total.
func (c *OCIContent) Blob(ctx context.Context, blob OCIBlob, file *os.File, progress func(done, total int64)) error {
	return c.fail(c.repository.repeat(ctx, func() error {
		return c.repository.receive(ctx, blob, file, progress)
	}))
}

func (c *OCIContent) fail(err error) error {
	if err == nil {
		return nil
	}
	return fetchError(c.shown, err)
}

// descriptor returns the descriptor of a blob for the registry client.
func (b OCIBlob) descriptor() (ocispec.Descriptor, error) {
	if !oci.IsDigest(b.Digest) {
		return ocispec.Descriptor{}, fmt.Errorf("%w: the digest of a blob is %q", ErrOCIContent, b.Digest)
	}
	return ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.Digest(b.Digest), Size: b.Size}, nil
}

// manifest requests the manifest of a tag or a digest, without retries.
func (r *ociRepository) manifest(ctx context.Context, reference string) (_ OCIManifest, err error) {
	found, body, err := r.FetchReference(ctx, reference)
	if err != nil {
		return OCIManifest{}, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if !oci.IsDigest(found.Digest.String()) {
		return OCIManifest{}, fmt.Errorf("%w: the digest of the manifest is %q", ErrOCIContent, found.Digest)
	}
	text, err := content.ReadAll(body, found)
	return OCIManifest{found.MediaType, found.Digest.String(), text}, err
}

// receive requests a blob, without retries. It writes the blob to the file, from its beginning,
// and checks its size and digest.
func (r *ociRepository) receive(ctx context.Context, blob OCIBlob, file *os.File, progress func(done, total int64)) (err error) {
	descriptor, err := blob.descriptor()
	if err != nil {
		return err
	}
	body, err := r.Blobs().Fetch(ctx, descriptor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	verified := content.NewVerifyReader(body, descriptor)
	if err := (&httpx.Download{File: file, Progress: progress}).Copy(verified, blob.Size); err != nil {
		return err
	}
	return verified.Verify()
}
