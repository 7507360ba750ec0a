package mirror

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
)

// lockedModule is stored in this order: archive, manifest, and the tags of its content and its statement.
type lockedModule struct {
	installerinternal.LockedModule
	statement artifact.Statement
}

func (p *pusher) pushModule(ctx context.Context, locked installerinternal.LockedModule) error {
	statement := artifact.StatementOf(locked.Entry)
	return p.push(ctx, statement.Tag(), lockedModule{locked, statement}, &p.result.Entries)
}

func (l lockedModule) isIn(ctx context.Context, m *Mirror) (storefetch.Presence, error) {
	return storefetch.Has(ctx, m, l.statement)
}

func (l lockedModule) manifest(ctx context.Context, p *pusher) ([]byte, error) {
	return storefetch.Manifest(ctx, p.mirror, l.statement.Tag())
}

// archiveForms bounds the archives of a package that a repair tries.
const archiveForms = 4

type layerKey struct {
	t1   hashing.Hash
	form int
}

type pushedLayer struct {
	oci.Descriptor
	// uploaded says that the archive was missing or damaged before.
	uploaded bool
}

func (l lockedModule) store(ctx context.Context, p *pusher, former []byte) (changed bool, err error) {
	if err := p.pushConfig(ctx, "", p.mirror.writer); err != nil {
		return false, err
	}
	t1, tag := l.Tree.T1(), l.statement.Tag()
	for form := range archiveForms {
		layer, err := p.layers.Do(ctx, layerKey{t1, form}, func(ctx context.Context) (pushedLayer, error) {
			return l.pushLayer(ctx, p, form)
		})
		if errors.Is(err, ErrNotRepaired) {
			continue
		}
		if err != nil {
			return false, err
		}
		text, err := artifact.Module{Statement: l.statement, Layer: layer.Descriptor}.Manifest()
		if err != nil {
			return false, err
		}
		if bytes.Equal(text, former) {
			return layer.uploaded, nil
		}
		if err := p.pushManifest(ctx, artifact.ContentTag(t1), text, form > 0); err != nil {
			return false, err
		}
		if err := p.pushManifest(ctx, tag, text, true); err != nil {
			return false, err
		}
		if !p.repairs {
			return true, nil
		}
		if stored, err := storefetch.Manifest(ctx, p.mirror, tag); err == nil && bytes.Equal(stored, text) {
			return true, nil
		}
	}
	return false, ErrNotRepaired
}

func (l lockedModule) pushLayer(ctx context.Context, p *pusher, form int) (pushedLayer, error) {
	layer, err := artifact.PackModule(ctx, p.dir, l.Open, l.Tree, form)
	if err != nil {
		return pushedLayer{}, err
	}
	defer func() { _ = os.Remove(layer.Name) }() // pushAll removes leftovers
	uploaded, err := p.pushFile(ctx, addrs.Provider{}, p.mirror.writer, layer)
	return pushedLayer{layer.Descriptor, uploaded}, err
}
