package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter"
	packagecache "github.com/cotterpin/cotter/cache"
)

// lookAtCache checks the cache and the user's key.
func (d *doctor) lookAtCache(ctx context.Context) {
	d.begin("Cache and key")
	user := packagecache.Cache{Dir: d.in.CacheDir, StateDir: d.in.StateDir, StateKey: d.in.StateKey}
	if exposed, ok := errors.AsType[*cotter.ExposedError](user.Check()); ok {
		d.note(asStep(protect(exposed)), "%s; so installations do not use it", exposed)
	}
	d.cache(ctx)
	d.key()
}

// asStep returns a remedy for errors in the form of those of the doctor.
func asStep(remedy string) string {
	return strings.ToLower(remedy[:1]) + strings.TrimSuffix(remedy[1:], ".")
}

func (d *doctor) cache(ctx context.Context) {
	dir := d.in.CacheDir
	if dir == "" {
		d.note("set COTTER_CACHE_DIR", "there is no home directory, so nothing is cached")
		return
	}
	usage, err := packagecache.Cache{Dir: dir}.Size(ctx)
	if err != nil {
		d.problem("set COTTER_CACHE_DIR to another directory", "%s cannot be read: %s", dir, err)
		return
	}
	exists, err := writable(dir)
	switch {
	case err != nil:
		d.problem("make it writable, or set COTTER_CACHE_DIR to another directory", "%s cannot be written: %s", dir, err)
	case !exists:
		d.ok("%s will be created by the first installation", dir)
	default:
		d.ok("%s: %s, %s, %s", dir, count(usage.Packages, "package"), count(usage.Providers, "provider"), megabytes(usage.Bytes()))
	}
	if usage.QuarantineBytes > 0 {
		d.note("run `cotter cache clean`", "%s of damaged packages were set aside", megabytes(usage.QuarantineBytes))
	}
}

// writable reports whether a directory exists. It returns an error if the directory, or its
// nearest existing parent, is not writable.
func writable(dir string) (exists bool, err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	exists = true
	for {
		_, err := os.Stat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			break
		}
		exists, at = false, filepath.Dir(at)
	}
	file, err := os.CreateTemp(at, ".cotter-doctor-")
	if err != nil {
		return exists, err
	}
	return exists, errors.Join(file.Close(), os.Remove(file.Name()))
}

// key checks the key that proves that files were written by this user.
func (d *doctor) key() {
	user := packagecache.Cache{StateDir: d.in.StateDir, StateKey: d.in.StateKey}
	if d.in.StateKey != "" {
		if err := user.CheckKey(); err != nil {
			d.problem("use a longer key: 32 random characters", "COTTER_STATE_KEY: %s", err)
			return
		}
		d.ok("the key is the value of COTTER_STATE_KEY")
		return
	}
	if d.in.StateDir == "" {
		d.note("set COTTER_STATE_DIR or COTTER_STATE_KEY", "there is no home directory for a key, so each run asks all origins again")
		return
	}
	err := user.CheckKey()
	switch {
	case errors.As(err, new(*cotter.ExposedError)): // lookAtCache has noted it
	case errors.Is(err, fs.ErrNotExist):
		d.ok("the first installation will create a key in %s", d.in.StateDir)
	case err != nil:
		d.problem("set its mode to 0600, or remove it: a new key is created, and the origins are asked once more", "the key in %s cannot be used: %s", d.in.StateDir, err)
	default:
		d.ok("the key in %s is private", d.in.StateDir)
	}
}
