package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/httpx"
)

// host is a server that the project needs, with what is asked of it.
type host struct {
	scheme, name string // name includes the port, if there is one
	// kinds say what the host serves: modules, providers, git, archives, oci and so on.
	kinds    []string
	packages []addrs.ModulePackage
	// named says that one of the project's own modules, or a setting of the user, names the host. Only then may
	// it be on this machine.
	named bool
	// questions are requests that an installation sends too: for the versions of a module or of a provider, or
	// the refs of a repository.
	questions []*question
}

// question is a request about one module, repository or provider, and its failure.
type question struct {
	about string
	ask   func(context.Context) error
	err   error
}

// host adds a host, if it is new, and what it serves.
func (d *doctor) host(scheme, name, kind string, named bool) *host {
	i := slices.IndexFunc(d.hosts, func(h *host) bool { return h.scheme == scheme && h.name == name })
	if i < 0 {
		i = len(d.hosts)
		d.hosts = append(d.hosts, &host{scheme: scheme, name: name})
	}
	h := d.hosts[i]
	h.named = h.named || named
	if !h.has(kind) {
		h.kinds = append(h.kinds, kind)
	}
	return h
}

func (h *host) has(kind string) bool { return slices.Contains(h.kinds, kind) }

func (h *host) isRegistry() bool { return h.has("modules") || h.has("providers") }

// question adds one, unless the host is asked about the same already.
func (h *host) question(about string, ask func(context.Context) error) {
	if !slices.ContainsFunc(h.questions, func(q *question) bool { return q.about == about }) {
		h.questions = append(h.questions, &question{about: about, ask: ask})
	}
}

// needModule adds the hosts of a module call. own says that one of the project's own modules has the call.
func (d *doctor) needModule(source addrs.ModuleSource, locked addrs.ModulePackage, own bool) {
	switch s := source.(type) {
	case addrs.ModuleSourceRegistry:
		d.host("https", string(s.Package.Host), "modules", own).question("module "+s.Package.String(), func(ctx context.Context) error {
			if !own {
				ctx = pointedToByPackage(ctx)
			}
			_, err := d.asking.Registry.ModuleVersions(ctx, s.Package)
			return err
		})
		if !locked.IsZero() {
			d.needPackage(getmodules.Request{Package: locked, FromServer: true, Origin: "https://" + string(s.Package.Host)}, false)
		}
	case addrs.ModuleSourceRemote:
		d.needPackage(getmodules.Request{Package: s.Package, FromPackage: !own}, own)
	}
}

// pointedToByPackage returns the context for a question about what only a package names, as in an installation.
func pointedToByPackage(ctx context.Context) context.Context { return httpx.PointedTo(ctx, &url.URL{}) }

// needPackage adds the host of a package. Repositories are asked for their refs; to ask for an archive would be to fetch it.
func (d *doctor) needPackage(req getmodules.Request, named bool) {
	location, err := req.Package.Location()
	if err != nil || location.Host() == "" {
		return
	}
	at := location.URL()
	scheme, kind := at.Scheme, req.Package.Getter()
	switch scheme {
	case "oci", "s3", "gcs":
		scheme = "https"
	}
	switch kind {
	case "":
		kind = at.Scheme
	case "http", "https":
		kind = "archives"
	}
	h := d.host(scheme, at.Host, kind, named)
	h.packages = append(h.packages, req.Package)
	switch about := "repository " + addrs.Redact(strings.TrimSuffix(at.Path, "/")); kind {
	case "git":
		h.question(about, func(ctx context.Context) error {
			_, err := d.asking.Fetcher.Tags(ctx, req)
			return err
		})
	case "oci":
		h.question(about, func(ctx context.Context) error { return d.askRepository(ctx, req) })
	}
}

// askRepository asks an OCI repository for the artifact that the address names, or else whether it has any.
func (d *doctor) askRepository(ctx context.Context, req getmodules.Request) error {
	repository, err := d.asking.Fetcher.OCIRepository(ctx, req)
	if err != nil {
		return err
	}
	if ref, _ := req.Package.Ref(); ref != "" {
		_, err := repository.Resolve(ctx, ref)
		return err
	}
	answered := errors.New("one page is enough")
	if err := repository.Tags(ctx, "", func([]string) error { return answered }); !errors.Is(err, answered) {
		return err
	}
	return nil
}

// needProvider adds the hosts that an installation asks for a provider: its registry, network mirrors, or none.
func (d *doctor) needProvider(ctx context.Context, provider addrs.Provider, own bool) {
	about, ask := "provider "+provider.ForDisplay(), func(ctx context.Context) error {
		if !own {
			ctx = pointedToByPackage(ctx)
		}
		_, err := d.asking.Providers.Versions(ctx, provider)
		return err
	}
	fromRegistry := !d.config.Providers.Explicit && !d.isMirrored(ctx, provider)
	for _, m := range d.config.Providers.Methods {
		covers := func(p getproviders.Pattern) bool { return p.Matches(provider) }
		switch {
		case slices.ContainsFunc(m.Exclude, covers) || len(m.Include) > 0 && !slices.ContainsFunc(m.Include, covers):
		case m.Kind == cliconfig.MethodDirect:
			fromRegistry = true
		case m.Kind == cliconfig.MethodNetworkMirror:
			d.host("https", m.URL.Host, "provider mirror", true).question(about, ask)
		}
	}
	if fromRegistry {
		d.host("https", string(provider.Hostname), "providers", own).question(about, ask)
	}
}

// isMirrored reports whether the provider is in a directory that is a mirror by default.
func (d *doctor) isMirrored(ctx context.Context, provider addrs.Provider) bool {
	return slices.ContainsFunc(d.config.Providers.ImpliedMirrors, func(dir string) bool {
		found, err := getproviders.FilesystemMirror{Dir: below(d.req.Dir, dir)}.Providers(ctx)
		return err == nil && slices.Contains(found, provider)
	})
}

const (
	// maxQuestions is how many questions are sent at once: over ssh each is a process and a login.
	maxQuestions = 8
	// maxAnswer limits each question, with its retries.
	maxAnswer = 30 * time.Second
)

// lookAtHosts sends the questions. Each one that fails is a problem, such as credentials that a server refuses.
func (d *doctor) lookAtHosts(ctx context.Context) {
	d.begin("Hosts")
	if d.offline {
		d.ok("%s not asked: --offline is set", count(len(d.hosts), "host"))
		return
	}
	ctx = httpx.WithNames(ctx, d.naming)
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxQuestions)
	for _, h := range d.hosts {
		for _, q := range h.questions {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				ctx, cancel := context.WithTimeout(ctx, maxAnswer)
				defer cancel()
				q.err = q.ask(ctx)
			})
		}
	}
	wait.Wait()
	for _, h := range d.hosts {
		d.answered(h)
	}
}

func (d *doctor) naming(hostPort string) httpx.Naming {
	switch {
	case slices.Contains(d.asking.LocalHosts, hostPort):
		return httpx.NamedByUser
	case slices.ContainsFunc(d.hosts, func(h *host) bool {
		return h.named && httpx.HostPort(&url.URL{Scheme: h.scheme, Host: h.name}) == hostPort
	}):
		return httpx.NamedByProject
	}
	return httpx.NotNamed
}

func (d *doctor) answered(h *host) {
	what := h.name + " (" + strings.Join(h.kinds, ", ") + ")"
	if h.scheme != "https" {
		what = h.scheme + "://" + what
	}
	answered := 0
	for _, q := range h.questions {
		if q.err == nil {
			answered++
			continue
		}
		for _, m := range messages(q.err) {
			d.problem("%s: %s", what, m.line()) // which names the module, provider or repository
		}
	}
	switch {
	case len(h.questions) == 0:
		d.ok("%s is not asked before a package is fetched", what)
	case answered > 0:
		d.ok("%s answers", what)
	}
}
