package modtest

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
)

// Installer returns an installer that trusts the world's servers and cannot reach any others. It
// has no credentials. Its cache and its key are new and are removed with the world. The caller
// may change its fields before the first use.
func (w *World) Installer() *cotter.Installer {
	dir := filepath.Join(w.dir, "installers", strconv.FormatInt(w.installers.Add(1), 10))
	return cotter.New(cotter.Options{
		HTTPClient: w.HTTPClient(),
		Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(os.Environ(), w.Env()...)}},
		CacheDir:   filepath.Join(dir, "cache"),
		StateDir:   filepath.Join(dir, "state"),
	})
}
