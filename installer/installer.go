package installer

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/registryclient"
)

// Installer installs, locks and verifies the modules and providers of configurations. [New] makes one; the zero
// value is one without options. It may serve any number of runs at once.
type Installer struct {
	options Options
	// shared is the pool of all runs of a copy that Share or forEachProject made.
	shared *pool
}

// New returns an Installer. Clients that the options do not bring share their HTTP client and credentials.
func New(o Options) *Installer {
	services := &disco.Client{
		HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
		ForcedServices: o.Services,
	}
	if o.Credentials != nil {
		services.Credentials = o.Credentials
	}
	registry := &registryclient.Client{
		Services:   services,
		HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
	}
	if o.Registry == nil {
		o.Registry = registry
	}
	if o.Providers == nil {
		o.Providers = &getproviders.Direct{
			Registry: registry, TrustedHost: addrs.DefaultRegistryHost, AllowWeakSignatures: true, // policies decide
			HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
		}
	}
	o.Fetcher = o.fetcher()
	o.LocalHosts = append(slices.Clone(o.LocalHosts), hostsOf(o.Services)...)
	return &Installer{options: o}
}

// Options returns the options with the clients that New has made, which a program can wrap.
func (in *Installer) Options() Options {
	if in == nil {
		panic("installer: Options of a nil *Installer; New makes one")
	}
	return in.options
}

// checkInstaller returns an *[InvalidOptionsError] for an Installer that cannot work.
func checkInstaller(in *Installer) error {
	switch {
	case in == nil:
		return &InvalidOptionsError{Reason: "the Installer is nil; New makes one"}
	case slices.Contains(in.options.Stores, nil):
		return &InvalidOptionsError{Fields: []string{"Stores"}, Reason: "a store is nil"}
	}
	return nil
}

func (o Options) fetcher() Fetcher {
	f := &getmodules.Fetcher{}
	switch given := o.Fetcher.(type) {
	case nil:
	case *getmodules.Fetcher:
		f = given.Fresh()
	default:
		return given
	}
	if f.HTTPClient == nil {
		f.HTTPClient, f.HTTPClientForGit = o.HTTPClient, true
	}
	if f.Attempts == 0 {
		f.Attempts = o.Attempts
	}
	f.UserAgent, f.CacheDir = cmp.Or(f.UserAgent, o.UserAgent), cmp.Or(f.CacheDir, o.CacheDir)
	if o.Credentials == nil {
		return f
	}
	if f.HTTPCredentials == nil {
		f.HTTPCredentials = o.Credentials.HTTPCredentials
	}
	if f.OCICredentials == nil {
		f.OCICredentials = o.Credentials.OCICredentials
	}
	if f.GitCredentials == nil {
		f.GitCredentials = o.Credentials.GitCredentials
	}
	return f
}

// hostsOf returns the hosts of services that the user has named, with a port.
func hostsOf(services map[addrs.Hostname]map[string]any) (hosts []string) {
	for _, urls := range services {
		for _, text := range urls {
			text, _ := text.(string)
			if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
				hosts = append(hosts, httpx.HostPort(u))
			}
		}
	}
	return hosts
}

func clientsOf(in *Installer) clients {
	o := in.options
	if o.Registry == nil { // it is the zero Installer
		o = New(o).options
	}
	c := clients{Options: o, hook: hookOf(o.Logger, o.Trace), shared: in.shared}
	c.LocalHosts = nil
	for _, host := range o.LocalHosts {
		c.LocalHosts = append(c.LocalHosts, httpx.HostPort(&url.URL{Scheme: "https", Host: host}))
	}
	if c.cacheErr = pathsafe.CheckOwners(c.CacheDir); c.cacheErr != nil {
		c.CacheDir = ""
	}
	if c.Parallel <= 0 {
		c.Parallel = defaultParallel
	}
	return c
}

func eventsOf(in *Installer, p Project) *events {
	fn := in.options.OnEvent
	if p.OnEvent != nil {
		fn = p.OnEvent
	}
	return &events{fn: logged(in.options.Logger, fn)}
}

// userOf returns the user of an Installer's runs. If the key cannot be used, or the cache is not protected from
// other users, a warning is sent and the key is a random one, with which other runs recognize no files. Runs
// that only read pass nil events, and create no key.
func userOf(in *Installer, events *events) (user, error) {
	if in.shared != nil {
		return in.shared.user, nil
	}
	stateDir := in.options.StateDir
	if in.options.StateKey != "" {
		stateDir = "" // it is not used
	}
	exposed := pathsafe.CheckOwners(in.options.CacheDir, stateDir)
	if exposed != nil && events != nil {
		events.emit(event.Warning{
			Message: fmt.Sprintf("%s; so nothing there is used, and nothing that this run learns is kept for later runs", exposed),
			Kind:    event.WarningExposed,
			Err:     exposed,
		})
	}
	u := user{hasState: in.options.StateDir != "" || in.options.StateKey != ""}
	var err error
	switch {
	case in.options.StateKey != "":
		u.key, err = userkey.FromSecret(in.options.StateKey)
		return u, err
	case in.options.StateDir == "":
		u.key = userkey.Random()
		return u, nil
	}
	read := userkey.ReadOrMake
	if events == nil {
		read = userkey.Read
	}
	if u.key, err = read(in.options.StateDir); err == nil {
		return u, nil
	}
	if events != nil && !errors.As(err, new(*pathsafe.ExposedError)) {
		events.warn(nil, fmt.Sprintf("the user's key in %s cannot be used (%s), so the files of earlier runs are not trusted", in.options.StateDir, err))
	}
	u.key = userkey.Random()
	return u, nil
}
