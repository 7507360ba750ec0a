package cliconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/cotterpin/cotter/internal/netrc"
	"github.com/cotterpin/cotter/internal/userfile"
)

// HTTPCredentials returns the user name and the password for the server of a URL from the
// user's netrc file, or nil if it has none. There, a port is part of the server's name,
// unless it is 443 with https. The file is read once, when it is first needed. The error is
// ctx's, or says why the file cannot be read.
//
// HTTPCredentials is a [github.com/cotterpin/cotter/getmodules.HTTPCredentials].
func (c *Config) HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error) {
	file, err := c.netrc.get(ctx, c.readNetrc)
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

func (c *Config) readNetrc(ctx context.Context) (netrc.File, error) {
	if c.netrcFile.name == "" {
		return netrc.File{}, nil
	}
	src, err := userfile.Read(ctx, c.netrcFile.name, maxFile)
	switch {
	case err == nil, userfile.Absent(err):
		return netrc.Parse(src), nil
	case errors.Is(err, fs.ErrPermission) && !c.netrcFile.named:
		c.warn(fmt.Sprintf("The credentials for http are skipped: %s", err))
		return netrc.File{}, nil
	}
	return netrc.File{}, fmt.Errorf("the user's credentials for http: %w", err)
}
