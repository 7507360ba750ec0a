package oci

import (
	"bytes"
	"context"
	_ "crypto/sha512" // for digests
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/ocistore"
)

// ErrContent means that an answer does not match the protocol, a digest or a size.
var ErrContent = errors.New("the registry's answer is not what was asked for")

// maxDocument is in bytes. Registries promise to accept manifests of up to this size.
const maxDocument = 4 << 20

type Document struct {
	MediaType string
	Descriptor
	Text []byte
}

// Resolve returns what a tag or a digest points to.
func Resolve(ctx context.Context, from ocistore.Repository, reference string) (ocispec.Descriptor, error) {
	found, err := from.Resolve(ctx, reference)
	switch {
	case err != nil:
		return ocispec.Descriptor{}, err
	case !IsDigest(found.Digest.String()):
		return ocispec.Descriptor{}, fmt.Errorf("%w: the digest of the manifest is %q", ErrContent, found.Digest)
	case IsDigest(reference) && found.Digest.String() != reference:
		return ocispec.Descriptor{}, fmt.Errorf("%w: the manifest has another digest, %s", ErrContent, found.Digest)
	}
	return found, nil
}

func Read(ctx context.Context, from ocistore.Repository, reference string) (Document, error) {
	found, err := Resolve(ctx, from, reference)
	if err != nil {
		return Document{}, err
	}
	return read(ctx, from, found)
}

// ReadManifest returns a manifest that an index names.
func ReadManifest(ctx context.Context, from ocistore.Repository, at Descriptor) (Document, error) {
	return read(ctx, from, at.OCI(ManifestType))
}

func read(ctx context.Context, from ocistore.Repository, at ocispec.Descriptor) (Document, error) {
	document := Document{MediaType: at.MediaType, Descriptor: descriptorOf(at)}
	if at.Size > maxDocument {
		return Document{}, fmt.Errorf("%w: the manifest has %d bytes, more than %d", ErrContent, at.Size, maxDocument)
	}
	body := io.NopCloser(bytes.NewReader(at.Data))
	if len(at.Data) == 0 {
		var err error
		if body, err = from.Fetch(ctx, at); err != nil {
			return Document{}, err
		}
	}
	var text bytes.Buffer
	err := copyVerified(&httpx.Download{Writer: &text}, body, document.Descriptor)
	document.Text = text.Bytes()
	return document, err
}

// Download writes a blob to a file, from its beginning. progress may be nil.
func Download(ctx context.Context, from ocistore.Repository, blob Descriptor, file *os.File, progress func(done, total int64)) error {
	body, err := from.Fetch(ctx, blob.OCI(ArchiveType))
	if err != nil {
		return err
	}
	return copyVerified(&httpx.Download{File: file, Progress: progress, Disk: packagelimits.DiskOf(ctx)}, body, blob)
}

func copyVerified(to *httpx.Download, content io.ReadCloser, want Descriptor) (err error) {
	if content == nil {
		return fmt.Errorf("%w: there is no content", ErrContent)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if !IsDigest(want.Digest) || want.Size < 0 {
		return fmt.Errorf("%w: a blob has the digest %q and the size %d", ErrContent, want.Digest, want.Size)
	}
	to.Hash = digest.Digest(want.Digest).Algorithm().Hash()
	// One byte more than wanted shows that there is more.
	if err := to.Copy(io.LimitReader(content, want.Size+1), want.Size); err != nil {
		return err
	}
	algorithm, encoded, _ := strings.Cut(want.Digest, ":")
	switch {
	case to.Size() != want.Size:
		return fmt.Errorf("%w: it does not have %d bytes", ErrContent, want.Size)
	case hex.EncodeToString(to.Hash.Sum(nil)) != encoded:
		return fmt.Errorf("%w: it does not match its digest (%s)", ErrContent, algorithm)
	}
	return nil
}
