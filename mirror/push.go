package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// Result describes what Push or Repair has done.
type Result struct {
	// Entries is the number of different module entries, and Providers is the number of different
	// provider packages. Pushed is the number of these that the mirror did not have. Replaced is
	// the number of those whose artifact was stored again because it was damaged or had no
	// signature by the mirror's SignKey.
	Entries, Providers, Pushed, Replaced int
	// Bytes is the size of the uploaded archives.
	Bytes int64
}

// ErrNotRepaired means that a registry still returns other bytes than were pushed to it.
var ErrNotRepaired = errors.New("the registry returns other bytes than were pushed to it")

// Push stores all packages that the locks of some root modules name in a mirror. It neither packs
// nor uploads packages that the mirror already has, unless they have no signature by the mirror's
// SignKey. It stores the packages of providers if req.Providers is set, for the platforms in
// req.Providers.
//
// The locks must be complete. dirs, req and onEvent are passed to
// [cotter.Installer.LockedPackages] and [cotter.Installer.LockedProviders], which confirm and
// fetch the packages. If projects fail, the packages of the others are stored nevertheless. The
// error joins a *[cotter.ProjectError] for each failed project.
func Push(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), to *Mirror) (*Result, error) {
	return (&pusher{mirror: to}).pushAll(ctx, in, dirs, req, onEvent)
}

// Repair is like Push, but it also reads back everything that the mirror has of these packages,
// and replaces what is damaged.
//
// Registries assume that a blob matches its digest, and may ignore the upload of a blob that they
// already have. In that case, Repair stores the package as an archive with the same content but
// different bytes. If that is damaged too, the error wraps [ErrNotRepaired].
func Repair(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), to *Mirror) (*Result, error) {
	return (&pusher{mirror: to, repairs: true}).pushAll(ctx, in, dirs, req, onEvent)
}

// pusher stores packages in a mirror, each of them once.
type pusher struct {
	mirror  *Mirror
	repairs bool
	dir     string // for archives, while they are uploaded
	entries singleflight.Memo[string, bool]
	layers  singleflight.Memo[layerKey, pushedLayer]
	config  singleflight.Memo[string, bool]

	providers providerPusher

	mu     sync.Mutex
	result Result
}

// layerKey identifies an archive by its content and form.
type layerKey struct {
	t1   hashing.Hash
	form int
}

// pushedLayer is an archive that is now in the mirror.
type pushedLayer struct {
	modpkg.Artifact // without a statement
	// uploaded reports whether the archive was missing or damaged before.
	uploaded bool
}

func (p *pusher) pushAll(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event)) (*Result, error) {
	temporary, err := os.MkdirTemp("", "cotter-mirror-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system removes leftovers
	p.dir = temporary
	err = in.LockedPackages(ctx, dirs, req, onEvent, p.push)
	if dirs = withoutFailed(dirs, err); req.Providers != nil && len(dirs) > 0 && ctx.Err() == nil {
		err = errors.Join(err, in.LockedProviders(ctx, dirs, req, onEvent, p.pushProvider))
	}
	return &p.result, err
}

// withoutFailed returns the directories of the projects that did not fail according to err. It
// returns nil if err is not only about projects.
func withoutFailed(dirs []string, err error) []string {
	failed := make(map[string]bool)
	var note func(error) bool
	note = func(err error) bool {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !note(err) })
		}
		project, ok := errors.AsType[*cotter.ProjectError](err)
		if ok {
			failed[project.Dir] = true
		}
		return ok
	}
	if err != nil && !note(err) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return failed[dir] })
}

// push stores a package unless the mirror already has its entry in the required form.
func (p *pusher) push(ctx context.Context, pkg cotter.LockedPackage) error {
	statement := modpkg.StatementOf(pkg.Entry)
	_, err := p.entries.Do(ctx, statement.Tag(), func(ctx context.Context) (bool, error) {
		has, _, err := cotter.StoreHas(ctx, p.mirror, pkg.Entry)
		if err != nil {
			return false, err
		}
		var found []byte
		if has && (p.repairs || p.mirror.SignKey != nil) {
			if found, err = p.mirror.Manifest(ctx, statement.Tag()); err != nil {
				return false, err
			}
		}
		changed := false
		if !has || p.repairs || p.lacksSignature(found) {
			changed, err = p.store(ctx, pkg, statement, found)
		}
		p.count(&p.result.Entries, has, changed && err == nil)
		return changed, err
	})
	return err
}

// count counts a package, and whether it was pushed or replaced.
func (p *pusher) count(all *int, had, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*all++
	switch {
	case !changed:
	case had:
		p.result.Replaced++
	default:
		p.result.Pushed++
	}
}

// lacksSignature reports whether a manifest lacks the signature by the mirror's key. It returns
// false if the mirror has no key.
func (p *pusher) lacksSignature(manifest []byte) bool {
	if p.mirror.SignKey == nil {
		return false
	}
	return modpkg.CheckSigned(manifest, publicKeys(p.mirror.SignKey)) != nil
}

// archiveForms is the maximum number of different archives of a package that a repair tries.
const archiveForms = 4

// store stores a package: first its archive, then the manifests and tags that point to it. found
// is the manifest that the mirror has for the entry, or nil. store reports whether anything in
// the mirror has changed.
func (p *pusher) store(ctx context.Context, pkg cotter.LockedPackage, statement modpkg.Statement, found []byte) (changed bool, err error) {
	if _, err := p.config.Do(ctx, "", p.pushConfig); err != nil {
		return false, err
	}
	t1 := pkg.Tree.T1()
	for form := range archiveForms {
		layer, err := p.layers.Do(ctx, layerKey{t1, form}, func(ctx context.Context) (pushedLayer, error) { return p.pushLayer(ctx, t1, form, pkg) })
		if errors.Is(err, ErrNotRepaired) {
			continue
		}
		if err != nil {
			return false, err
		}
		text, err := p.manifest(layer.Artifact, statement, found)
		if err != nil {
			return false, err
		}
		if bytes.Equal(text, found) {
			return layer.uploaded, nil
		}
		if err := p.pushManifest(ctx, modpkg.ContentTag(t1), text, form > 0); err != nil {
			return false, err
		}
		if err := p.pushManifest(ctx, statement.Tag(), text, true); err != nil {
			return false, err
		}
		if !p.repairs || p.hasManifest(ctx, statement.Tag(), text) {
			return true, nil
		}
	}
	return false, ErrNotRepaired
}

// manifest returns the manifest of an entry with a layer. If the entry already has the same layer
// in the mirror, its signatures are kept.
func (p *pusher) manifest(a modpkg.Artifact, statement modpkg.Statement, found []byte) ([]byte, error) {
	a.Statement = statement
	if former, err := modpkg.ParseManifest(found); err == nil && former.Layer == a.Layer {
		a.Signatures = former.Signatures
	}
	if p.mirror.SignKey != nil {
		var err error
		if a, err = a.Sign(p.mirror.SignKey); err != nil {
			return nil, err
		}
	}
	return a.Manifest()
}

// pushManifest stores a manifest and makes a tag point to it. If replace is not set, a tag that
// already exists is not changed: the tag of a content keeps pointing to the first artifact with
// that content.
func (p *pusher) pushManifest(ctx context.Context, tag string, text []byte, replace bool) error {
	if !replace {
		if _, err := p.mirror.Manifest(ctx, tag); err == nil {
			return nil
		}
	}
	return p.mirror.content.PushManifest(ctx, tag, ocispec.MediaTypeImageManifest, text)
}

// hasManifest reports whether a tag points to this manifest and the manifest can be read.
func (p *pusher) hasManifest(ctx context.Context, tag string, text []byte) bool {
	got, err := p.mirror.Manifest(ctx, tag)
	return err == nil && bytes.Equal(got, text)
}

// pushLayer packs a package and uploads the archive. A repair reads the archive back and uploads
// it again if the mirror has other bytes.
func (p *pusher) pushLayer(ctx context.Context, t1 hashing.Hash, form int, pkg cotter.LockedPackage) (pushedLayer, error) {
	root, err := pkg.Open()
	if err != nil {
		return pushedLayer{}, err
	}
	defer root.Close()
	name := filepath.Join(p.dir, fmt.Sprintf("%s-%d", modpkg.ContentTag(t1), form))
	defer func() { _ = os.Remove(name) }() // pushAll removes leftovers
	a, err := modpkg.WriteLayer(ctx, name, root.FS(), pkg.Tree, form, modpkg.Statement{})
	if err != nil {
		return pushedLayer{}, err
	}
	file, err := os.Open(name)
	if err != nil {
		return pushedLayer{}, err
	}
	defer file.Close()
	uploaded, err := p.pushFile(ctx, p.mirror.content, getmodules.OCIBlob{Digest: a.Layer, Size: a.Size}, file)
	return pushedLayer{a, uploaded}, err
}

// pushFile uploads an archive to a repository. uploaded reports whether the repository did not
// have it or had other bytes. A repair reads the archive back and uploads it again if it is
// damaged.
func (p *pusher) pushFile(ctx context.Context, to *getmodules.OCIContent, blob getmodules.OCIBlob, file *os.File) (uploaded bool, err error) {
	uploaded, err = to.PushBlob(ctx, blob, file)
	if err == nil && p.repairs {
		if err = p.readBack(ctx, to, blob); err != nil && isDamage(err) {
			uploaded = true
			if err = to.UploadBlob(ctx, blob, file); err == nil {
				err = p.readBack(ctx, to, blob)
			}
			if err != nil && isDamage(err) {
				err = fmt.Errorf("%w: %w", ErrNotRepaired, err)
			}
		}
	}
	if uploaded {
		p.mu.Lock()
		p.result.Bytes += blob.Size
		p.mu.Unlock()
	}
	return uploaded, err
}

// readBack fetches an archive and checks its digest.
func (p *pusher) readBack(ctx context.Context, from *getmodules.OCIContent, blob getmodules.OCIBlob) error {
	file, err := os.CreateTemp(p.dir, "read-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // pushAll removes leftovers
	}()
	return from.Blob(ctx, blob, file, nil)
}

// isDamage reports whether an error of fetching a blob is about the blob and not about the
// registry.
func isDamage(err error) bool {
	return errors.Is(err, getmodules.ErrOCIContent) || errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, fs.ErrNotExist)
}

func (p *pusher) pushConfig(ctx context.Context) (bool, error) {
	return pushConfig(ctx, p.mirror.content)
}

func pushConfig(ctx context.Context, to *getmodules.OCIContent) (bool, error) {
	config := []byte(modpkg.Config)
	at := ocilayout.Describe(config)
	return to.PushBlob(ctx, getmodules.OCIBlob{Digest: at.Digest, Size: at.Size}, bytes.NewReader(config))
}
