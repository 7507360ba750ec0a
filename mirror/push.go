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
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store/storefetch"
)

// Result describes what Push or Repair has done.
type Result struct {
	// Entries and Providers are the different module entries and provider packages. Pushed is the number
	// that the mirror did not have, and Replaced that of damaged artifacts.
	Entries, Providers, Pushed, Replaced int
	// Bytes is the size of the uploaded archives.
	Bytes int64
}

// ErrNotRepaired means that a registry still returns other bytes after a [Repair].
var ErrNotRepaired = errors.New("the registry returns other bytes than were pushed to it")

// Push stores the packages of the scope that the locks of some projects name, unless the mirror has them.
// The locks must be complete, and are confirmed as in an installation with Locked. If projects fail, the packages of
// the others are stored, and the error joins a *[installer.ProjectError] for each.
func Push(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, to *Mirror) (*Result, error) {
	return (&pusher{mirror: to}).pushAll(ctx, in, projects, o)
}

// Repair is Push, but reads back everything that the mirror has of these packages, and replaces what is
// damaged. Registries may ignore the upload of a blob that they have; then it stores an archive with the
// same content but different bytes. If that is damaged too, the error wraps [ErrNotRepaired].
func Repair(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions, to *Mirror) (*Result, error) {
	return (&pusher{mirror: to, repairs: true}).pushAll(ctx, in, projects, o)
}

// pusher stores each package once.
type pusher struct {
	mirror  *Mirror
	repairs bool
	dir     string // for archives, while they are uploaded
	// packages are those that were pushed, configs the repositories with the config blob, and layers the
	// archives of modules.
	packages singleflight.Memo[string, bool]
	configs  singleflight.Memo[string, bool]
	layers   singleflight.Memo[layerKey, pushedLayer]
	releases releaseLocks

	mu     sync.Mutex
	result Result
}

func (p *pusher) pushAll(ctx context.Context, in *installer.Installer, projects []installer.Project, o installer.LockedOptions) (*Result, error) {
	if err := p.mirror.checkOpen(); err != nil {
		return nil, err
	}
	temporary, remove, err := filelock.MkdirTemp("cotter-mirror-")
	if err != nil {
		return nil, err
	}
	defer remove()
	p.dir = temporary
	err = installerinternal.LockedPackages(ctx, in, projects, o, installerinternal.LockedFuncs{Module: p.pushModule, Provider: p.pushProvider})
	return &p.result, err
}

// lockedPackage is a [lockedModule] or a [lockedProvider].
type lockedPackage interface {
	isIn(ctx context.Context, m *Mirror) (storefetch.Presence, error)
	// manifest returns the mirror's manifest, or nil.
	manifest(ctx context.Context, p *pusher) ([]byte, error)
	// store stores the archive, and then what points to it. former is the mirror's manifest, or nil. It
	// reports whether the mirror has changed.
	store(ctx context.Context, p *pusher, former []byte) (changed bool, err error)
}

// push stores a package once for each key, unless the mirror has it in the required form. count counts it.
func (p *pusher) push(ctx context.Context, key string, pkg lockedPackage, count *int) error {
	_, err := p.packages.Do(ctx, key, func(ctx context.Context) (bool, error) {
		found, err := pkg.isIn(ctx, p.mirror)
		if err != nil {
			return false, err
		}
		replaces := found == storefetch.Other || p.repairs
		var former []byte
		if found != storefetch.Missing && replaces {
			if former, err = pkg.manifest(ctx, p); err != nil {
				return false, err
			}
		}
		changed := false
		if found == storefetch.Missing || replaces {
			changed, err = pkg.store(ctx, p, former)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		*count++
		switch {
		case err != nil || !changed:
		case found == storefetch.Missing:
			p.result.Pushed++
		default:
			p.result.Replaced++
		}
		return changed, err
	})
	return err
}

// pushConfig uploads the config blob of all manifests, once for each key.
func (p *pusher) pushConfig(ctx context.Context, key string, to *getmodules.OCIWriter) error {
	_, err := p.configs.Do(ctx, key, func(ctx context.Context) (bool, error) {
		config := []byte(oci.EmptyConfig)
		return to.PushBlob(ctx, oci.Describe(config).OCI(oci.ManifestType), bytes.NewReader(config), false)
	})
	return err
}

// pushManifest stores a manifest with a tag in the mirror's own repository. Without replace, an existing
// tag stays: that of a content points to the first artifact with it.
func (p *pusher) pushManifest(ctx context.Context, tag string, text []byte, replace bool) error {
	if !replace {
		if _, err := storefetch.Manifest(ctx, p.mirror, tag); err == nil {
			return nil
		}
	}
	return p.mirror.writer.PushManifest(ctx, tag, oci.ManifestType, text)
}

// pushFile uploads an archive, to the mirror's own repository for the zero Provider. uploaded reports
// whether the repository lacked it or had other bytes, which only a repair reads back.
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

// isDamage reports whether an error is about the blob and not about the registry.
func isDamage(err error) bool {
	return errors.Is(err, getmodules.ErrOCIContent) || errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, fs.ErrNotExist)
}
