package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/netrc"
)

// netrcCredentials finds credentials for archives in the user's netrc file,
// which is read when the first one is asked for.
func netrcCredentials(env func(string) string) getmodules.HTTPCredentials {
	read := sync.OnceValues(func() (netrc.File, error) {
		name := netrcFile(env)
		if name == "" {
			return netrc.File{}, nil
		}
		src, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return netrc.File{}, nil
		}
		if err != nil {
			return netrc.File{}, fmt.Errorf("the user's credentials for http: %w", err)
		}
		return netrc.Parse(src), nil
	})
	return func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
		file, err := read()
		if err != nil {
			return nil, err
		}
		host := at.Host
		if at.Port() == "443" && at.Scheme == "https" {
			host = at.Hostname()
		}
		login, password, found := file.Find(host)
		if !found {
			return nil, nil
		}
		return url.UserPassword(login, password), nil
	}
}

// netrcFile is where stock tools look for the file; "" for nowhere.
func netrcFile(env func(string) string) string {
	if name := env("NETRC"); name != "" {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "_netrc")
	}
	return filepath.Join(home, ".netrc")
}
