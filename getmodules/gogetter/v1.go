package gogetter

import (
	"context"
	"net/url"

	"github.com/cotterpin/cotter/getmodules"
)

// GetterV1 has the methods of a go-getter v1 getter that this package uses.
type GetterV1 interface {
	// Get downloads a directory to dst, which does not exist.
	Get(dst string, src *url.URL) error
	// GetFile downloads a file to dst, which does not exist.
	GetFile(dst string, src *url.URL) error
}

// V1 is a [getmodules.Getter] that downloads with a getter of go-getter v1.
type V1 struct {
	// New returns the getter for one download: one that is not in use, or is safe for concurrent use. In
	// v1, the context and all settings are those of the getter's client. New sets the client if the getter
	// has one:
	//
	//	func(ctx context.Context) gogetter.GetterV1 {
	//		g := &acme.Getter{}
	//		g.SetClient(&getter.Client{
	//			Ctx:             ctx,
	//			Getters:         map[string]getter.Getter{"acme": g},
	//			Decompressors:   map[string]getter.Decompressor{},
	//			DisableSymlinks: true,
	//			Umask:           0o077,
	//		})
	//		return g
	//	}
	//
	// A getter that does not return when ctx is done delays the end of the fetch.
	New func(ctx context.Context) GetterV1
}

var _ getmodules.Getter = V1{}

// Get implements [getmodules.Getter].
func (v V1) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if err := checkRequest(from); err != nil {
		return getmodules.Downloaded{}, err
	}
	if v.New == nil {
		return getmodules.Downloaded{}, errNoNew
	}
	src := *from.Location.URL() // v1 getters modify it
	g := v.New(ctx)
	get := g.Get
	if from.Archive {
		get = g.GetFile
	}
	if err := get(from.Path, &src); err != nil {
		return getmodules.Downloaded{}, err
	}
	return getmodules.Downloaded{}, checkResult(from)
}
