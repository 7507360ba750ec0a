package getmodules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/oci"
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
	pkg.Bytes += int64(len(d.manifest.Text))
	pkg.Revision = d.manifest.Digest
	pkg.Resolved = addr.resolved(pkg.Revision)
	return pkg, nil
}

// ociDownload is a download of a module package from a registry to a file.
type ociDownload struct {
	repository *ociRepository
	limit      int64
	progress   func(done, total int64)
	file       *os.File
	manifest   OCIManifest
	layer      OCIBlob
}

// resolve requests the manifest and finds the layer in it. The layer is then requested by its
// digest, even if the tag moves in the meantime.
func (d *ociDownload) resolve(ctx context.Context, reference string) (err error) {
	if d.manifest, err = d.repository.manifest(ctx, reference); err != nil {
		return err
	}
	d.layer, err = moduleLayer(d.manifest.MediaType, d.manifest.Text, d.limit)
	return err
}

// receive writes the layer to the start of the file.
func (d *ociDownload) receive(ctx context.Context) error {
	return d.repository.receive(ctx, d.layer, d.file, d.progress)
}

func badArtifact(reason error) error { return fmt.Errorf("%w: %w", ErrOCIArtifact, reason) }

// moduleLayer returns the layer of a manifest that contains the package. mediaType is the
// Content-Type of the answer.
func moduleLayer(mediaType string, text []byte, limit int64) (OCIBlob, error) {
	if oci.IsIndex(mediaType) {
		return OCIBlob{}, badArtifact(errors.New("it is an index of several artifacts; name one of them by its digest"))
	}
	manifest, err := oci.ParseManifest(mediaType, text, oci.ModuleArtifact)
	if err != nil {
		return OCIBlob{}, badArtifact(err)
	}
	layer, err := manifest.Archive()
	switch {
	case err != nil:
		return OCIBlob{}, badArtifact(err)
	case layer.Size > limit:
		return OCIBlob{}, fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, layer.Size, limit)
	}
	return OCIBlob(layer), nil
}
