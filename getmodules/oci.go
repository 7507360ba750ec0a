package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
)

// fetchOCI fetches the layer of a module package from an OCI registry: one
// request for the manifest, by which a tag is resolved too, and one for the
// layer.
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
	pkg, err := extractArchive(ctx, d.file, kindZip, req.Dir, f.Limits)
	if err != nil {
		return nil, err
	}
	pkg.Bytes += d.manifest.Size
	pkg.Revision = d.manifest.Digest.String()
	pkg.Resolved = addr.resolved(pkg.Revision)
	return pkg, nil
}

// ociDownload is a module package on its way from a registry to a file.
type ociDownload struct {
	repository      *ociRepository
	limit           int64
	progress        func(done, total int64)
	file            *os.File
	manifest, layer ocispec.Descriptor
}

// resolve asks for the manifest and finds the layer in it. From here on
// everything is named by digests, whatever a tag points to later.
func (d *ociDownload) resolve(ctx context.Context, reference string) (err error) {
	manifest, body, err := d.repository.FetchReference(ctx, reference)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if !ociDigest.MatchString(manifest.Digest.String()) {
		return fmt.Errorf("%w: the digest of the manifest is %q", ErrOCIContent, manifest.Digest)
	}
	text, err := content.ReadAll(body, manifest)
	if err != nil {
		return err
	}
	d.manifest = manifest
	d.layer, err = moduleLayer(manifest.MediaType, text, d.limit)
	return err
}

// receive writes the layer to the file, from its beginning, and checks that it
// has the size and the digest that the manifest says.
func (d *ociDownload) receive(ctx context.Context) (err error) {
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	body, err := d.repository.Blobs().Fetch(ctx, d.layer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	out := io.Writer(d.file)
	if d.progress != nil {
		out = &progressWriter{w: d.file, report: d.progress, total: d.layer.Size}
	}
	verified := content.NewVerifyReader(body, d.layer)
	if _, err := io.Copy(out, verified); err != nil {
		return err
	}
	if err := verified.Verify(); err != nil {
		return err
	}
	if d.progress != nil {
		d.progress(d.layer.Size, d.layer.Size)
	}
	return nil
}
