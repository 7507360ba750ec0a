package installer

import (
	"context"
	"net/url"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/project/treewalk"
)

// withNamedHosts returns a context in which packages and servers may point to hosts on this machine that
// [Options.LocalHosts] or the project's own modules name. These modules are read again, only if a request would
// be refused otherwise: the walk may find the call that names the host later than the one that needs it.
func (c clients) withNamedHosts(ctx context.Context, p *openProject) context.Context {
	ofProject := sync.OnceValue(func() []string { return c.hostsOfProject(ctx, p) })
	return httpx.WithNames(ctx, func(hostPort string) httpx.Naming {
		switch {
		case slices.Contains(c.LocalHosts, hostPort):
			return httpx.NamedByUser
		case slices.Contains(ofProject(), hostPort):
			return httpx.NamedByProject
		}
		return httpx.NotNamed
	})
}

// hostsOfProject returns the hosts and ports in the calls and the provider requirements of the project's own
// modules. What cannot be read is left out: the run reports it.
func (c clients) hostsOfProject(ctx context.Context, p *openProject) []string {
	reader, err := c.configFor(p.req)
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
	w := &treewalk.Walker{
		Project: &p.Project, Config: reader, Parallel: c.Parallel, // the run passes warnings on
		Require: func(_ *module, found config.Module) {
			for _, use := range found.Providers {
				name(&url.URL{Scheme: "https", Host: string(use.Provider.Hostname)})
			}
		},
		Find: func(_ context.Context, call *call) (*module, error) {
			if call.From.IsLocal() && call.IsOwn() {
				return p.LocalModule(call)
			}
			if at := call.From.Host(); at != nil {
				name(at)
			}
			return nil, treewalk.ErrLeftOut
		},
	}
	w.Walk(ctx)
	return named
}
