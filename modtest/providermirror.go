package modtest

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
)

// ProviderSource returns the source address of a provider: "127.0.0.1:PORT/acme/cloud" for "acme/cloud".
func (w *World) ProviderSource(name string) string { return w.host + "/" + name }

// ProviderMirrorURL returns the base URL of the network mirror, which has the same packages for every host.
func (w *World) ProviderMirrorURL() string { return w.URL() + providerMirror }

// serveMirror serves https://opentofu.org/docs/internals/provider-network-mirror-protocol/.
func (r *providerRegistry) serveMirror(w http.ResponseWriter, req *http.Request) {
	_, releases, ok := r.releases.list(requestedProvider(req))
	if !ok {
		http.NotFound(w, req)
		return
	}
	file := req.PathValue("file")
	if file == "index.json" {
		all := map[string]any{}
		for _, release := range releases {
			all[release.version] = struct{}{}
		}
		writeJSON(w, map[string]any{"versions": all})
		return
	}
	for _, release := range releases {
		if file == release.version+".json" {
			writeJSON(w, map[string]any{"archives": release.mirrored()})
			return
		}
		if pkg, ok := release.find(file, addrs.Platform{}); ok {
			serveProviderArchive(w, req, pkg, pkg.archive)
			return
		}
	}
	http.NotFound(w, req)
}

func (r *providerRelease) mirrored() map[string]any {
	all := map[string]any{}
	for _, p := range r.packages {
		all[p.platform.String()] = map[string]any{"url": p.filename, "hashes": p.hashes()}
	}
	return all
}

// ProviderMirror determines how a filesystem mirror is written.
type ProviderMirror struct {
	// Host is that of the providers' addresses; "" means the world's.
	Host addrs.Hostname
}

// WriteProviderMirror writes all packages of the provider registry as a filesystem mirror of stock tools to
// dir, which it creates.
func (w *World) WriteProviderMirror(dir string, mirror ProviderMirror) error {
	host := string(cmp.Or(mirror.Host, w.Host()))
	for _, name := range w.providers.releases.names() {
		_, releases, _ := w.providers.releases.list(name)
		at := filepath.Join(dir, host, filepath.FromSlash(name))
		if err := os.MkdirAll(at, 0o755); err != nil {
			return fmt.Errorf("modtest: %w", err)
		}
		for _, release := range releases {
			for _, p := range release.packages {
				if err := os.WriteFile(filepath.Join(at, p.filename), p.archive, 0o644); err != nil {
					return fmt.Errorf("modtest: %w", err)
				}
			}
		}
	}
	return nil
}
