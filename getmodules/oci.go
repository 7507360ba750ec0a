package getmodules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// fetchOCI fetches the layer of a module package from an OCI registry. It sends one request for
// the manifest, which also resolves a tag, and one for the layer.
func (f *Fetcher) fetchOCI(ctx context.Context, req Request) (_ *Package, err error) {
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return nil, err
	}
	if err := addr.pin(req.Revision); err != nil {
		return nil, err
	}
	d := &ociDownload{repository: f.ociRepository(addr), limit: f.Limits.download(), progress: req.Progress}
	if err := d.repository.repeat(ctx, func() error { return d.resolve(ctx, addr.reference()) }); err != nil {
		return nil, err
	}
	d.file, err = os.CreateTemp(filepath.Dir(req.Dir), ".archive-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.file.Close(), os.Remove(d.file.Name())) }()
	if err := d.repository.repeat(ctx, func() error { return d.receive(ctx) }); err != nil {
		return nil, err
	}
	pkg, err := f.extract(ctx, d.file, kindZip, req.Dir)
	if err != nil {
		return nil, err
	}
	pkg.Bytes += d.manifest.Size
	pkg.Revision = d.manifest.Digest.String()
	pkg.Resolved = addr.resolved(pkg.Revision)
	return pkg, nil
}

// ociDownload is a download of a module package from a registry to a file.
type ociDownload struct {
	repository      *ociRepository
	limit           int64
	progress        func(done, total int64)
	file            *os.File
	manifest, layer ocispec.Descriptor
}

// resolve requests the manifest and finds the layer in it. The layer is then requested by its
// digest, even if the tag moves in the meantime.
func (d *ociDownload) resolve(ctx context.Context, reference string) (err error) {
	manifest, text, err := d.repository.manifest(ctx, reference)
	if err != nil {
		return err
	}
	d.manifest = manifest
	d.layer, err = moduleLayer(manifest.MediaType, text, d.limit)
	return err
}

// receive writes the layer to the start of the file.
func (d *ociDownload) receive(ctx context.Context) error {
	return d.repository.receive(ctx, d.layer, d.file, d.progress)
}

const (
	// ociArtifactType and ociLayerType are the types of a module package in
	// OpenTofu's documentation. See the package comment.
	ociArtifactType = "application/vnd.opentofu.modulepkg"
	ociLayerType    = "archive/zip"

	// Docker's formats, which predate those of OCI.
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
)

func badArtifact(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrOCIArtifact, fmt.Errorf(format, args...))
}

// moduleLayer returns the layer of a manifest that contains the package. mediaType is the
// Content-Type of the answer.
func moduleLayer(mediaType string, text []byte, limit int64) (ocispec.Descriptor, error) {
	none := ocispec.Descriptor{}
	switch mediaType {
	case ocispec.MediaTypeImageManifest:
	case ocispec.MediaTypeImageIndex, dockerIndex:
		return none, badArtifact("it is an index of several artifacts; name one of them by its digest")
	case dockerManifest:
		return none, badArtifact("its manifest is in Docker's format; push it in the format of OCI")
	default:
		return none, badArtifact("the media type of its manifest is %q", mediaType)
	}
	var manifest struct {
		ocispec.Manifest
		// Indexes have this property. A manifest with both could be read as either.
		Manifests json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return none, badArtifact("its manifest cannot be read: %w", err)
	}
	switch {
	case manifest.MediaType != mediaType || manifest.Manifests != nil:
		return none, badArtifact("its manifest says that it is something else: %q", manifest.MediaType)
	case manifest.ArtifactType == "":
		return none, badArtifact("it has no artifact type, like a container image; push it with the type %q", ociArtifactType)
	case manifest.ArtifactType != ociArtifactType:
		return none, badArtifact("its artifact type is %q, and should be %q", manifest.ArtifactType, ociArtifactType)
	}
	return zipLayer(manifest.Layers, limit)
}

func zipLayer(layers []ocispec.Descriptor, limit int64) (found ocispec.Descriptor, err error) {
	count := 0
	for _, layer := range layers {
		if layer.MediaType == ociLayerType {
			found = layer
			count++
		}
	}
	switch {
	case len(layers) == 0:
		return found, badArtifact("it has no layers")
	case count == 0:
		return found, badArtifact("none of its %d layers is of the type %q; the first is %q", len(layers), ociLayerType, layers[0].MediaType)
	case count > 1:
		return found, badArtifact("it has %d layers of the type %q, and should have one", count, ociLayerType)
	case !ociDigest.MatchString(found.Digest.String()):
		return found, badArtifact("the digest of its layer is %q", found.Digest)
	case found.Size <= 0:
		return found, badArtifact("the size of its layer is %d", found.Size)
	case found.Size > limit:
		return found, fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, found.Size, limit)
	}
	// The other fields of the descriptor, such as further locations, are not used.
	return ocispec.Descriptor{MediaType: found.MediaType, Digest: found.Digest, Size: found.Size}, nil
}
