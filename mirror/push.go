package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// Result is what Push or Repair did.
type Result struct {
	// Entries is the number of different entries of locks. Pushed is that of those that
	// the mirror did not have, and Replaced that of those whose artifact was stored again:
	// it had no signature by the mirror's SignKey, or was damaged.
	Entries, Pushed, Replaced int
	// Bytes is the size of the archives that were uploaded.
	Bytes int64
}

// ErrNotRepaired means that a registry still returns something else than it was sent.
var ErrNotRepaired = errors.New("the registry returns other bytes than were pushed to it")

// Push stores all packages that the locks of some root modules name in a mirror. What
// the mirror has is neither packed nor uploaded again, unless it has no signature by the
// mirror's SignKey.
//
// The locks must be complete. dirs, req and onEvent are those of
// [cotter.Installer.LockedPackages], which confirms and fetches the packages. If
// projects fail, what the others have is stored nevertheless; the error joins a
// *[cotter.ProjectError] for each.
func Push(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), to *Mirror) (*Result, error) {
	return (&pusher{mirror: to}).pushAll(ctx, in, dirs, req, onEvent)
}

// Repair is Push, but reads back all that the mirror has of these packages and replaces
// what is damaged.
//
// Registries believe that a blob has its digest and may ignore an upload of one that they
// have. Then the package is stored as an archive with other bytes and the same content.
// If that is damaged too, the error wraps [ErrNotRepaired].
func Repair(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), to *Mirror) (*Result, error) {
	return (&pusher{mirror: to, repairs: true}).pushAll(ctx, in, dirs, req, onEvent)
}

// pusher stores packages in a mirror, each once.
type pusher struct {
	mirror  *Mirror
	repairs bool
	dir     string // for archives, while they are uploaded
	entries singleflight.Memo[string, bool]
	layers  singleflight.Memo[layerKey, pushedLayer]
	config  singleflight.Memo[string, bool]

	mu     sync.Mutex
	result Result
}

// layerKey is an archive by its content and form.
type layerKey struct {
	t1   hashing.Hash
	form int
}

// pushedLayer is an archive that is in the mirror.
type pushedLayer struct {
	modpkg.Artifact // without a statement
	// uploaded says that it was not there, or damaged.
	uploaded bool
}

func (p *pusher) pushAll(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event)) (*Result, error) {
	temporary, err := os.MkdirTemp("", "cotter-mirror-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system removes what is left
	p.dir = temporary
	err = in.LockedPackages(ctx, dirs, req, onEvent, p.push)
	return &p.result, err
}

// push stores a package unless the mirror has its entry as it should be.
func (p *pusher) push(ctx context.Context, pkg cotter.LockedPackage) error {
	statement := modpkg.StatementOf(pkg.Entry)
	_, err := p.entries.Do(ctx, statement.Tag(), func(ctx context.Context) (bool, error) {
		has, err := cotter.StoreHas(ctx, p.mirror, pkg.Entry)
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
		p.mu.Lock()
		defer p.mu.Unlock()
		p.result.Entries++
		switch {
		case err != nil || !changed:
		case has:
			p.result.Replaced++
		default:
			p.result.Pushed++
		}
		return changed, err
	})
	return err
}

// lacksSignature reports whether a manifest is not signed by the key of the mirror, if that
// has one.
func (p *pusher) lacksSignature(manifest []byte) bool {
	if p.mirror.SignKey == nil {
		return false
	}
	found, err := modpkg.ParseManifest(manifest)
	return err != nil || found.CheckSigned(publicKeys(p.mirror.SignKey)) != nil
}

// archiveForms is how many archives of a package a repair tries.
const archiveForms = 4

// store stores a package: its archive, and then what points to it. found is the manifest
// that the mirror has for the entry; nil if it has none. It reports whether something was
// missing or other than it is now.
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

// manifest returns the manifest of an entry with a layer. Signatures that the entry has in
// the mirror are kept if it has the same layer.
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

// pushManifest stores a manifest and has a tag point to it. The tag of a content points to
// the first artifact that has it, unless that is to be replaced.
func (p *pusher) pushManifest(ctx context.Context, tag string, text []byte, replace bool) error {
	if !replace {
		if _, err := p.mirror.Manifest(ctx, tag); err == nil {
			return nil
		}
	}
	return p.mirror.content.PushManifest(ctx, tag, ocispec.MediaTypeImageManifest, text)
}

// hasManifest reports whether a tag points to a manifest that can be read.
func (p *pusher) hasManifest(ctx context.Context, tag string, text []byte) bool {
	got, err := p.mirror.Manifest(ctx, tag)
	return err == nil && bytes.Equal(got, text)
}

// pushLayer packs a package and uploads the archive. A repair reads it back, and uploads
// it again if the mirror had something else.
func (p *pusher) pushLayer(ctx context.Context, t1 hashing.Hash, form int, pkg cotter.LockedPackage) (pushedLayer, error) {
	root, err := pkg.Open()
	if err != nil {
		return pushedLayer{}, err
	}
	defer root.Close()
	name := filepath.Join(p.dir, fmt.Sprintf("%s-%d", modpkg.ContentTag(t1), form))
	defer func() { _ = os.Remove(name) }() // pushAll removes what is left
	a, err := modpkg.WriteLayer(ctx, name, root.FS(), pkg.Tree, form, modpkg.Statement{})
	if err != nil {
		return pushedLayer{}, err
	}
	file, err := os.Open(name)
	if err != nil {
		return pushedLayer{}, err
	}
	defer file.Close()
	blob := getmodules.OCIBlob{Digest: a.Layer, Size: a.Size}
	uploaded, err := p.mirror.content.PushBlob(ctx, blob, file)
	if err != nil || !p.repairs {
		return p.pushed(a, uploaded), err
	}
	damage := p.readBack(ctx, a)
	if damage != nil && isDamage(damage) {
		uploaded = true
		if err := p.mirror.content.UploadBlob(ctx, blob, file); err != nil {
			return pushedLayer{}, err
		}
		if damage = p.readBack(ctx, a); damage != nil && isDamage(damage) {
			damage = fmt.Errorf("%w: %w", ErrNotRepaired, damage)
		}
	}
	return p.pushed(a, uploaded), damage
}

// pushed counts a layer.
func (p *pusher) pushed(a modpkg.Artifact, uploaded bool) pushedLayer {
	if uploaded {
		p.mu.Lock()
		p.result.Bytes += a.Size
		p.mu.Unlock()
	}
	return pushedLayer{a, uploaded}
}

// readBack fetches a layer and checks its digest.
func (p *pusher) readBack(ctx context.Context, a modpkg.Artifact) error {
	file, err := os.CreateTemp(p.dir, "read-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // pushAll removes what is left
	}()
	return p.mirror.Blob(ctx, a.Layer, a.Size, file)
}

// isDamage reports whether the error of a blob that was fetched is about the blob, and not
// about the registry.
func isDamage(err error) bool {
	return errors.Is(err, getmodules.ErrOCIContent) || errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, fs.ErrNotExist)
}

func (p *pusher) pushConfig(ctx context.Context) (bool, error) {
	config := []byte(modpkg.Config)
	at := ocilayout.Describe(config)
	return p.mirror.content.PushBlob(ctx, getmodules.OCIBlob{Digest: at.Digest, Size: at.Size}, bytes.NewReader(config))
}
