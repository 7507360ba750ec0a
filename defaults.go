package cotter

import (
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
)

var (
	_ Registry = (*registryclient.Client)(nil)
	_ Fetcher  = (*getmodules.Fetcher)(nil)
)

// parallel is how many pieces of work are done at once.
func (in *Installer) parallel() int {
	if in.Parallel > 0 {
		return in.Parallel
	}
	return defaultParallel
}

func (in *Installer) registry() Registry {
	if in.Registry != nil {
		return in.Registry
	}
	return &registryclient.Client{Services: &disco.Client{}}
}

func (in *Installer) fetcher(cacheDir string) Fetcher {
	if in.Fetcher != nil {
		return in.Fetcher
	}
	return &getmodules.Fetcher{CacheDir: cacheDir}
}

func (in *Installer) config(req Request) (ConfigReader, error) {
	if in.Config != nil {
		return in.Config, nil
	}
	return newConfigReader(req)
}
