package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"oras.land/oras-go/v2/registry"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/ocistore"
)

// fetchOCI takes, with our own client, one request for the manifest, which also resolves a tag, and one for
// the layer.
func (f *Fetcher) fetchOCI(ctx context.Context, req Request) (_ *Package, err error) {
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return nil, err
	}
	if err := addr.pin(req.Revision); err != nil {
		return nil, err
	}
	repository, err := f.openOCI(ctx, addr)
	if err != nil {
		return nil, err
	}
	manifest, err := oci.Read(ctx, repository, addr.reference())
	if errors.Is(err, fs.ErrNotExist) && addr.digest == "" && !isRedirected(err, addr) {
		err = withNearTags(ctx, repository, addr, err)
	}
	if err != nil {
		return nil, err
	}
	// The tag may move meanwhile, so the digest is requested.
	layer, err := moduleLayer(manifest.MediaType, manifest.Text, f.Limits)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(req.Dir), ".archive-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if err := oci.Download(ctx, repository, layer, file, req.Progress); err != nil {
		return nil, err
	}
	pkg, err := f.extract(ctx, file, "zip", req.Dir)
	if err != nil {
		return nil, err
	}
	pkg.Bytes += manifest.Size
	pkg.Revision = manifest.Digest
	pkg.Resolved = addr.resolved(pkg.Revision)
	return pkg, nil
}

// isRedirected reports whether another place than the manifest's has answered, about which the repository's
// tags say nothing.
func isRedirected(err error, addr *ociAddress) bool {
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false // the caller's client
	}
	home := registry.Reference{Registry: addr.host}.Host() // Docker Hub has an alias
	from := hostname.URLIn(status.URL)
	return from.Host != home || from.Path != "/v2/"+addr.repository+"/manifests/"+addr.tag
}

var errEnough = errors.New("no more tags are needed")

// withNearTags returns a *[RefNotFoundError] with similar tags of the registry's first page. They are only
// a hint: if the tags cannot be listed, or have the missing one, it returns err.
func withNearTags(ctx context.Context, repository ocistore.Repository, addr *ociAddress, err error) error {
	missing, tags := addr.tag, git.Refs{}
	failed := repository.Tags(ctx, "", func(page []string) error {
		for _, tag := range page {
			tags[git.Tags+tag] = git.Ref{}
		}
		return errEnough
	})
	_, listed := tags[git.Tags+missing]
	if listed || failed != nil && !errors.Is(failed, errEnough) {
		return err
	}
	return &RefNotFoundError{Repository: "oci://" + addr.host + "/" + addr.repository, Ref: missing, Near: tags.Near(missing), Err: err}
}

func badArtifact(reason error) error { return fmt.Errorf("%w: %w", ErrOCIArtifact, reason) }

// moduleLayer returns the layer with the package. mediaType is the Content-Type of the answer.
func moduleLayer(mediaType string, text []byte, limits Limits) (oci.Descriptor, error) {
	if oci.IsIndex(mediaType) {
		return oci.Descriptor{}, badArtifact(errors.New("it is an index of several artifacts; name one of them by its digest"))
	}
	manifest, err := oci.ParseManifest(mediaType, text, oci.ModuleArtifact)
	if err != nil {
		return oci.Descriptor{}, badArtifact(err)
	}
	layer, err := manifest.Archive()
	if err != nil {
		return oci.Descriptor{}, badArtifact(err)
	}
	return layer, limits.checkDownload(layer.Size)
}
