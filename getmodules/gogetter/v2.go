package gogetter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/cotterpin/cotter/getmodules"
)

// V2 is a [getmodules.Getter] that downloads with a getter of go-getter/v2.
type V2 struct {
	// Name is the name before "::" in addresses; "" lets the getter decide by the URL alone.
	Name string
	// New returns the getter for one download: one that is not in use, or is safe for concurrent use.
	New func() getter.Getter
}

var _ getmodules.Getter = V2{}

// umask applies to the files that go-getter writes, which become a package only later.
const umask = 0o077

// Get implements [getmodules.Getter].
func (v V2) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if err := checkRequest(from); err != nil {
		return getmodules.Downloaded{}, err
	}
	if v.New == nil {
		return getmodules.Downloaded{}, errNoNew
	}
	address := from.Location.URL().String()
	if _, subdir := getter.SourceDirSubdir(address); subdir != "" {
		return getmodules.Downloaded{}, errors.New("go-getter takes the // in the path for a subdirectory; write the path without it")
	}
	client := &getter.Client{
		Getters:         []getter.Getter{v.New()},
		Decompressors:   map[string]getter.Decompressor{},
		DisableSymlinks: true,
	}
	mode := getter.ModeDir
	if from.Archive {
		mode = getter.ModeFile
	}
	got, err := client.Get(ctx, &getter.Request{
		Src:             address,
		Dst:             from.Path,
		Forced:          v.Name,
		GetMode:         mode,
		Umask:           umask,
		Copy:            true,
		DisableSymlinks: true,
	})
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	if got.Dst != from.Path {
		return getmodules.Downloaded{}, errors.New("the getter did not write to the given path")
	}
	return getmodules.Downloaded{}, checkResult(from)
}

var errNoNew = errors.New("the field New of the adapter is not set")

func checkRequest(from getmodules.Download) error {
	switch {
	case from.FromServer:
		return fmt.Errorf("%w: servers may not point to getters of go-getter", getmodules.ErrRefusedLocation)
	case from.List:
		return errors.New("a getter of go-getter lists no versions")
	case from.Revision != "":
		return errors.New("a getter of go-getter has no revisions")
	}
	return nil
}

func checkResult(from getmodules.Download) error {
	want, wanted := fs.FileMode(0), "a file"
	if !from.Archive {
		want, wanted = fs.ModeDir, "a directory"
	}
	info, err := os.Lstat(from.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the getter reported success and left nothing")
	case err != nil:
		return err
	case info.Mode().Type() == fs.ModeSymlink:
		return fmt.Errorf("%w: the getter left a symbolic link in place of %s", getmodules.ErrUnsafeEntry, wanted)
	case info.Mode().Type() != want:
		return fmt.Errorf("%w: the getter left something else in place of %s (mode %s)", getmodules.ErrUnsafeEntry, wanted, info.Mode())
	}
	return nil
}
