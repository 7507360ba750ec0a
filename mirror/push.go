package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/stores"
)

// Result describes what Push or Repair has done.
type Result struct {
	// Entries is the number of different module entries, and Providers is the number of different
	// provider packages. Pushed is the number of these that the mirror did not have. Replaced is
	// the number of those whose artifact was stored again because it was damaged.
	Entries, Providers, Pushed, Replaced int
	// Bytes is the size of the uploaded archives.
	Bytes int64
}

// ErrNotRepaired means that a registry still returns other bytes than were pushed to it.
var ErrNotRepaired = errors.New("the registry returns other bytes than were pushed to it")

// Push stores all packages of the scope that the locks of some projects name in a mirror. It neither
// packs nor uploads packages that the mirror already has.
//
// The locks must be complete. projects and o are passed to
// [installer.Installer.LockedPackages], which confirms and fetches the packages. If projects fail, the packages of the others are stored nevertheless. The
// error joins a *[installer.ProjectError] for each failed project.
func Push(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, to *Mirror) (*Result, error) {
	return (&pusher{mirror: to}).pushAll(ctx, in, projects, o)
}

// Repair is like Push, but it also reads back everything that the mirror has of these packages,
// and replaces what is damaged.
//
// Registries assume that a blob matches its digest, and may ignore the upload of a blob that they
// already have. In that case, Repair stores the package as an archive with the same content but
// different bytes. If that is damaged too, the error wraps [ErrNotRepaired].
func Repair(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, to *Mirror) (*Result, error) {
	return (&pusher{mirror: to, repairs: true}).pushAll(ctx, in, projects, o)
}

// pusher stores packages in a mirror, each of them once.
type pusher struct {
	mirror  *Mirror
	repairs bool
	dir     string // for archives, while they are uploaded
	// packages are the packages that were pushed, by their keys. configs are the repositories that
	// have the config blob, and layers the archives of modules.
	packages singleflight.Memo[string, bool]
	configs  singleflight.Memo[string, bool]
	layers   singleflight.Memo[layerKey, pushedLayer]
	indexes  indexLocks

	mu     sync.Mutex
	result Result
}

func (p *pusher) pushAll(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions) (*Result, error) {
	temporary, err := os.MkdirTemp("", "cotter-mirror-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system removes leftovers
	p.dir = temporary
	err = in.LockedPackages(ctx, projects, o, installer.LockedFuncs{Module: p.pushModule, Provider: p.pushProvider})
	return &p.result, err
}

// lockedPackage is a package that a lock names: a [lockedModule] or a [lockedProvider].
type lockedPackage interface {
	// isIn returns what a mirror has of the package.
	isIn(ctx context.Context, m *Mirror) (stores.Presence, error)
	// manifest returns the manifest that the mirror has for the package, or nil.
	manifest(ctx context.Context, p *pusher) ([]byte, error)
	// store stores the package: first its archive, then what points to it. former is the manifest
	// that the mirror has, or nil. store reports whether anything in the mirror has changed.
	store(ctx context.Context, p *pusher, former []byte) (changed bool, err error)
}

// push stores a package unless the mirror already has it in the required form. Packages with the
// same key are stored once. count is the field of the result that counts them.
func (p *pusher) push(ctx context.Context, key string, pkg lockedPackage, count *int) error {
	_, err := p.packages.Do(ctx, key, func(ctx context.Context) (bool, error) {
		found, err := pkg.isIn(ctx, p.mirror)
		if err != nil {
			return false, err
		}
		replaces := found == stores.Other || p.repairs
		var former []byte
		if found != stores.Missing && replaces {
			if former, err = pkg.manifest(ctx, p); err != nil {
				return false, err
			}
		}
		changed := false
		if found == stores.Missing || replaces {
			changed, err = pkg.store(ctx, p, former)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		*count++
		switch {
		case err != nil || !changed:
		case found == stores.Missing:
			p.result.Pushed++
		default:
			p.result.Replaced++
		}
		return changed, err
	})
	return err
}

// pushConfig uploads the config blob of all manifests to a repository, once for each key.
func (p *pusher) pushConfig(ctx context.Context, key string, to *getmodules.OCIWriter) error {
	_, err := p.configs.Do(ctx, key, func(ctx context.Context) (bool, error) {
		config := []byte(oci.EmptyConfig)
		return to.PushBlob(ctx, oci.Describe(config).OCI(oci.ManifestType), bytes.NewReader(config), false)
	})
	return err
}

// pushManifest stores a manifest and makes a tag of the mirror's own repository point to it. If
// replace is not set, a tag that already exists is not changed: the tag of a content keeps
// pointing to the first artifact with that content.
func (p *pusher) pushManifest(ctx context.Context, tag string, text []byte, replace bool) error {
	if !replace {
		if _, err := stores.Manifest(ctx, p.mirror, tag); err == nil {
			return nil
		}
	}
	return p.mirror.writer.PushManifest(ctx, tag, oci.ManifestType, text)
}

// pushFile uploads an archive to the repository of a provider, or to the mirror's own for the zero
// Provider. uploaded reports whether the repository did not have it or had other bytes. A repair
// reads the archive back and uploads it again if it is damaged.
func (p *pusher) pushFile(ctx context.Context, provider addrs.Provider, to *getmodules.OCIWriter, layer oci.File) (uploaded bool, err error) {
	file, err := os.Open(layer.Name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	blob := layer.OCI(oci.ArchiveType)
	uploaded, err = to.PushBlob(ctx, blob, file, false)
	if err == nil && p.repairs {
		if err = p.readBack(ctx, provider, layer.Descriptor); err != nil && isDamage(err) {
			uploaded = true
			if _, err = to.PushBlob(ctx, blob, file, true); err == nil {
				err = p.readBack(ctx, provider, layer.Descriptor)
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
func (p *pusher) readBack(ctx context.Context, provider addrs.Provider, blob oci.Descriptor) error {
	from, err := p.mirror.Repository(ctx, provider)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(p.dir, "read-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // pushAll removes leftovers
	}()
	return oci.Download(ctx, from, blob, file, nil)
}

// isDamage reports whether an error of fetching a blob is about the blob and not about the
// registry.
func isDamage(err error) bool {
	return errors.Is(err, getmodules.ErrOCIContent) || errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, fs.ErrNotExist)
}
