package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
)

func (d *doctor) lookAtCache(ctx context.Context) {
	d.begin("Cache and key")
	user := store.Cache{Dir: d.in.Options().CacheDir, StateDir: d.in.Options().StateDir, StateKey: d.in.Options().StateKey}
	if exposed, ok := errors.AsType[*pathsafe.ExposedError](user.Check()); ok {
		d.note("%s; so installations do not use it", exposed)
	}
	if dir := d.in.Options().CacheDir; dir == "" {
		d.note("there is no home directory and no COTTER_CACHE_DIR, so nothing is cached")
	} else if usage, err := (store.Cache{Dir: dir}).Size(ctx); err != nil {
		d.problem("%s cannot be read: %s", dir, err)
	} else if err := tryToWrite(dir); errors.Is(err, fs.ErrNotExist) {
		d.ok("%s will be created by the first installation", dir)
	} else if err != nil {
		d.problem("%s cannot be written: %s", dir, err)
	} else {
		d.ok("%s: %s, %s, %s", dir, count(usage.Modules.Number, "package"), count(usage.Providers.Number, "provider"), megabytes(usage.Bytes()))
	}

	err := store.Cache{StateDir: d.in.Options().StateDir, StateKey: d.in.Options().StateKey}.CheckKey()
	switch {
	case d.in.Options().StateKey != "" && err != nil:
		d.problem("COTTER_STATE_KEY: %s", err)
	case d.in.Options().StateKey != "":
		d.ok("the key is the value of COTTER_STATE_KEY")
	case d.in.Options().StateDir == "":
		d.note("there is no home directory for a key, and no COTTER_STATE_DIR or COTTER_STATE_KEY, so each run asks all origins again")
	case errors.As(err, new(*pathsafe.ExposedError)): // noted above
	case errors.Is(err, fs.ErrNotExist):
		d.ok("the first installation will create a key in %s", d.in.Options().StateDir)
	case err != nil:
		d.problem("the key in %s cannot be used: %s", d.in.Options().StateDir, err)
	default:
		d.ok("the key in %s is private", d.in.Options().StateDir)
	}
}

func tryToWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".cotter-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
