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
	own := d.in.Options()
	user := store.Cache{Dir: own.CacheDir, StateDir: own.StateDir, StateKey: own.StateKey}
	if exposed, ok := errors.AsType[*pathsafe.ExposedError](user.Check()); ok {
		d.note("%s; so installations do not use it", exposed)
	}
	if dir := own.CacheDir; dir == "" {
		d.note("there is no home directory and no COTTER_CACHE_DIR, so nothing is cached")
	} else if usage, err := user.Size(ctx); err != nil {
		d.problem("%s cannot be read: %s", dir, err)
	} else if err := tryToWrite(dir); errors.Is(err, fs.ErrNotExist) {
		d.ok("%s will be created by the first installation", dir)
	} else if err != nil {
		d.problem("%s cannot be written: %s", dir, err)
	} else {
		d.ok("%s: %s, %s, %s", dir, count(usage.Modules.Number, "package"), count(usage.Providers.Number, "provider"), megabytes(usage.Bytes()))
	}

	err := user.CheckKey()
	switch {
	case own.StateKey != "" && err != nil:
		d.problem("COTTER_STATE_KEY: %s", err)
	case own.StateKey != "":
		d.ok("the key is the value of COTTER_STATE_KEY")
	case own.StateDir == "":
		d.note("there is no home directory for a key, and no COTTER_STATE_DIR or COTTER_STATE_KEY, so each run asks all origins again")
	case errors.As(err, new(*pathsafe.ExposedError)): // noted above
	case errors.Is(err, fs.ErrNotExist):
		d.ok("the first installation will create a key in %s", own.StateDir)
	case err != nil:
		d.problem("the key in %s cannot be used: %s", own.StateDir, err)
	default:
		d.ok("the key in %s is private", own.StateDir)
	}
}

func tryToWrite(dir string) error {
	file, err := os.CreateTemp(dir, ".cotter-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
