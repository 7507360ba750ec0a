package installer

import (
	"context"
	"net/url"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/origins"
)

// namedHosts are the hosts to which packages and servers may point although these are on this machine.
type namedHosts struct {
	// byUser are hosts and ports as httpx compares them.
	byUser   []string
	config   func() (ConfigReader, error)
	parallel int
}

// in returns a context in which packages and servers may point to the named hosts, and to those that the
// project's own modules name.
//
// The project's modules are read again, and only if a request would be refused otherwise: the walk
// may find the call that names the host later than the one that needs it, and most runs have neither.
func (n namedHosts) in(ctx context.Context, p *openProject) context.Context {
	ofProject := sync.OnceValue(func() []string { return n.ofProject(ctx, p) })
	return httpx.WithNames(ctx, func(hostPort string) httpx.Naming {
		switch {
		case slices.Contains(n.byUser, hostPort):
			return httpx.NamedByUser
		case slices.Contains(ofProject(), hostPort):
			return httpx.NamedByProject
		}
		return httpx.NotNamed
	})
}

// ofProject returns the hosts and ports in the calls and the provider requirements of the project's own
// modules. Calls and modules that cannot be read are left out: the run reports them.
func (n namedHosts) ofProject(ctx context.Context, p *openProject) []string {
	reader, err := n.config()
	if err != nil {
		return nil
	}
	var mu sync.Mutex
	var named []string
	name := func(at *url.URL) {
		mu.Lock()
		defer mu.Unlock()
		named = append(named, httpx.HostPort(at))
	}
	w := &walker{
		config: reader, dialect: p.dialect, terraform: p.readsAsTerraform(), parallel: n.parallel, replacements: p.replacements, packages: p.dirs.DataDir(""),
		warn: func(addrs.Module, *hcl.Diagnostic) {}, // the run passes these warnings on
		require: func(_ *module, found config.Module) {
			for _, use := range found.Providers {
				name(&url.URL{Scheme: "https", Host: string(use.Provider.Hostname)})
			}
		},
		find: func(_ context.Context, call *call) (*module, error) {
			if call.from.IsLocal() && call.own() {
				return localModule(call, p.dirs)
			}
			if at := origins.HostOf(call.from); at != nil {
				name(at)
			}
			return nil, errLeftOut
		},
	}
	w.walk(ctx, p.req.dir())
	return named
}
