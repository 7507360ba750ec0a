package gogetter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/go-getter"

	"github.com/cotterpin/cotter/getmodules"
)

// Getters are all getters of this package by the names of their addresses, for
// [getmodules.Fetcher].Getters. The map is the caller's.
func Getters() map[string]getmodules.Getter {
	return map[string]getmodules.Getter{"s3": S3{}, "gcs": GCS{}}
}

var (
	_ getmodules.Getter = S3{}
	_ getmodules.Getter = GCS{}
)

// S3 downloads objects from S3 and from servers that speak its protocol.
type S3 struct{}

// Get implements [getmodules.Getter].
func (S3) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if from.URL.Fragment != "" {
		return getmodules.Downloaded{}, errors.New("an S3 address has no fragment; a version of an object is given by ?version=")
	}
	if !from.Archive && from.URL.Query().Get("version") != "" {
		return getmodules.Downloaded{}, errors.New("an S3 address with a version must be that of an archive, as directories have none")
	}
	return download(ctx, new(getter.S3Getter), from)
}

// GCS downloads objects from Google Cloud Storage.
type GCS struct{}

// Get implements [getmodules.Getter].
func (GCS) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	generation := from.URL.Fragment
	switch {
	case strings.Trim(generation, "0123456789") != "":
		return getmodules.Downloaded{}, errors.New("the fragment of a gcs address is the generation of an object, a number")
	case !from.Archive && generation != "":
		return getmodules.Downloaded{}, errors.New("a gcs address with a generation must be that of an archive, as directories have none")
	}
	return download(ctx, new(getter.GCSGetter), from)
}

// download has a getter of go-getter download an object or a directory. The
// getter must be a new one: SetClient writes to it. Neither its modes nor
// go-getter's client are used, which would unpack archives in their own way.
func download(ctx context.Context, g getter.Getter, from getmodules.Download) (getmodules.Downloaded, error) {
	u := *from.URL
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return getmodules.Downloaded{}, errors.New("the address needs https:// and a host behind the \"::\"")
	case u.User != nil:
		return getmodules.Downloaded{}, errors.New("there is no user name or password in such addresses")
	}
	g.SetClient(&getter.Client{Ctx: ctx})
	if from.Archive {
		return getmodules.Downloaded{}, explain(g.GetFile(from.Path, &u))
	}
	return getmodules.Downloaded{}, explain(downloadDirectory(g, from.Path, &u))
}

// downloadDirectory downloads what is below a prefix. The slash at its end keeps
// out what only begins alike: "net-2/x" is not in "net".
func downloadDirectory(g getter.Getter, path string, u *url.URL) error {
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
		u.RawPath = ""
	}
	if err := g.Get(path, u); err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no object's name begins with its path and a slash; the address of an archive ends in .zip, .tar.gz or .tar.bz2, or has an archive argument", getmodules.ErrEmpty)
	}
	return nil
}
