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
	"github.com/cotterpin/cotter/internal/userfile"
)

// maxNetrc bounds the netrc file, in bytes. A large one has a few kilobytes.
const maxNetrc = 1 << 20

// netrcCredentials finds credentials for archives in the user's netrc file,
// which is read when the first one is asked for. If it is a pipe, ctx bounds
// that. A file in the home directory that the user has no right to read is a
// warning.
func netrcCredentials(ctx context.Context, out *output) getmodules.HTTPCredentials {
	read := sync.OnceValues(func() (netrc.File, error) {
		name := netrcFile(out.env)
		if name == "" {
			return netrc.File{}, nil
		}
		src, err := userfile.Read(ctx, name, maxNetrc)
		switch {
		case err == nil, userfile.Absent(err):
			return netrc.Parse(src), nil
		case errors.Is(err, fs.ErrPermission) && out.env("NETRC") == "":
			out.warnf("The credentials for http are skipped: %s", err)
			return netrc.File{}, nil
		}
		return netrc.File{}, fmt.Errorf("the user's credentials for http: %w", err)
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
