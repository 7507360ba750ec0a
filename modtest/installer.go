package modtest

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
)

// Installer returns an installer that trusts the world's servers and reaches no
// others. It has no credentials. Its cache and its key are new, and are removed
// with the world. The caller may change its fields before the first use.
func (w *World) Installer() *cotter.Installer {
	dir := filepath.Join(w.dir, "installers", strconv.FormatInt(w.installers.Add(1), 10))
	cache, client := filepath.Join(dir, "cache"), w.HTTPClient()
	return &cotter.Installer{
		Registry: &registryclient.Client{Services: &disco.Client{HTTPClient: client}, HTTPClient: client},
		Fetcher: &getmodules.Fetcher{
			HTTPClient: client,
			CacheDir:   cache,
			Git:        getmodules.Git{Env: append(os.Environ(), w.Env()...)},
		},
		CacheDir: cache,
		StateDir: filepath.Join(dir, "state"),
	}
}
