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

func (in *Installer) config() ConfigReader {
	if in.Config != nil {
		return in.Config
	}
	return configReader{}
}
