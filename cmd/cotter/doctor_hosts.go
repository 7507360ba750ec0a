package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// need is a module, provider or repository that an installation requests from a host.
type need struct {
	scheme, host string // host includes the port, if there is one
	// kind is what the host serves: modules, providers, git, archives, oci and so on.
	kind string
	// from is where the package came from that alone names the host; nil if one of the project's own modules or a
	// setting of the user names it.
	from *url.URL
	// about tells the needs of one kind apart that a host has.
	about string

	module   addrs.ModuleRegistryPackage
	provider addrs.Provider
	req      getmodules.Request
	client   getmodules.GitClient // of a repository
	err      error
}

func (n *need) name() string {
	if n.scheme == "https" {
		return n.host
	}
	return n.scheme + "://" + n.host
}

// need prefers the project's own calls to those of packages.
func (d *doctor) need(n *need) {
	i := slices.IndexFunc(d.needs, func(other *need) bool {
		return other.name() == n.name() && other.kind == n.kind && other.about == n.about
	})
	switch {
	case i < 0:
		d.needs = append(d.needs, n)
	case n.from == nil:
		d.needs[i] = n
	}
}

func (d *doctor) needModule(ctx context.Context, source addrs.ModuleSource, locked addrs.ModulePackage, from *url.URL) {
	switch s := source.(type) {
	case addrs.ModuleSourceRegistry:
		registry := &url.URL{Scheme: "https", Host: string(s.Package.Host)}
		d.need(&need{scheme: "https", host: registry.Host, kind: "modules", from: from, about: s.Package.String(), module: s.Package})
		if !locked.IsZero() {
			d.needPackage(ctx, getmodules.Request{Package: locked, FromServer: true, Origin: registry.String()}, registry)
		}
	case addrs.ModuleSourceRemote:
		req := getmodules.Request{Package: s.Package}
		if from != nil {
			req.FromPackage, req.Origin = true, hostname.Origin(from)
		}
		d.needPackage(ctx, req, from)
	}
}

// needPackage adds the host of a package, even if git's url.<base>.insteadOf replaces it.
func (d *doctor) needPackage(ctx context.Context, req getmodules.Request, from *url.URL) {
	location, err := req.Package.Location()
	if err != nil || location.Host() == "" {
		return
	}
	at := location.URL()
	n := &need{scheme: at.Scheme, host: at.Host, from: from, about: at.Path, req: req}
	switch n.kind = cmp.Or(req.Package.Getter(), n.scheme); n.kind {
	case "http", "https":
		n.kind = "archives"
	case "git":
		n.client, n.err = d.fetcher.GitClient(ctx, req.Package)
	default:
		n.scheme = "https"
	}
	d.need(n)
}

// needProvider adds the hosts that an installation asks for a provider: its registry, network mirrors, or none.
func (d *doctor) needProvider(ctx context.Context, provider addrs.Provider, from *url.URL) {
	fromRegistry := !d.config.Providers.Explicit && !d.isMirrored(ctx, provider)
	for _, m := range d.config.Providers.Methods {
		covers := func(p getproviders.Pattern) bool { return p.Matches(provider) }
		switch {
		case slices.ContainsFunc(m.Exclude, covers) || len(m.Include) > 0 && !slices.ContainsFunc(m.Include, covers):
		case m.Kind == cliconfig.MethodDirect:
			fromRegistry = true
		case m.Kind == cliconfig.MethodNetworkMirror:
			d.need(&need{scheme: "https", host: m.URL.Host, kind: "provider mirror", about: provider.String(), provider: provider})
		}
	}
	if fromRegistry {
		d.need(&need{scheme: "https", host: string(provider.Hostname), kind: "providers", from: from, about: provider.String(), provider: provider})
	}
}

// isMirrored reports whether the provider is in a directory that is a mirror by default.
func (d *doctor) isMirrored(ctx context.Context, provider addrs.Provider) bool {
	return slices.ContainsFunc(d.config.Providers.ImpliedMirrors, func(dir string) bool {
		found, err := getproviders.FilesystemMirror{Dir: view.Below(d.req.Dir, dir)}.Providers(ctx)
		return err == nil && slices.Contains(found, provider)
	})
}

// sends says which credentials requests have, and where they come from.
func (d *doctor) sends(ctx context.Context, n *need) (text string, err error) {
	at, _ := n.req.Package.Location() // needPackage has looked at the error
	none := "no token: requests are anonymous"
	var place cliconfig.Place
	switch {
	case n.req.Package.HoldsCredentials():
		return "those in the source address", nil
	case n.req.Package.IsZero():
		place, err = d.config.TokenPlace(ctx, addrs.Hostname(n.host))
	case n.kind == "oci":
		none = "none: requests are anonymous"
		place, err = d.config.OCIPlace(ctx, n.host, strings.Trim(at.URL().Path, "/"))
	case n.kind == "s3":
		user, err := userSettings(ctx)
		if err != nil {
			return "", err
		}
		text, err := (&s3.Getter{MetadataURL: d.Env("AWS_METADATA_URL"), Endpoints: user.S3Endpoints}).Login(ctx, at)
		if err != nil {
			return "none: " + addrs.RedactText(err.Error()), nil
		}
		return text, nil
	case n.client.SettingCredentials:
		return "those in git's setting " + n.client.Setting, nil
	case n.client.URL != nil && n.client.URL.Scheme == "ssh":
		return d.sshKeys(), nil
	case n.client.URL != nil && n.client.URL.Host != "":
		none = "none in netrc: requests are anonymous"
		if helpers := d.credentialHelpers(n.client.URL); len(helpers) > 0 { // which may open windows
			none = "none in netrc; git asks its credential helper (" + strings.Join(helpers, ", ") + ") if the server requires credentials"
		}
		place, err = d.config.HTTPPlace(ctx, n.client.URL)
	case n.kind == "archives":
		none = "none in netrc: requests are anonymous"
		place, err = d.config.HTTPPlace(ctx, at.URL())
	default:
		return "", nil
	}
	switch place.Kind {
	case "":
		return none, err
	case cliconfig.PlaceHelper:
		return "from the program " + place.Name, err
	}
	return "from the " + place.Kind + " " + place.Name, err
}

// credentialHelpers are those of git for a host.
func (d *doctor) credentialHelpers(at *url.URL) (helpers []string) {
	for _, s := range d.gitSettings {
		place, isHelper := strings.CutSuffix(s.Name, "helper")
		place, isCredential := strings.CutPrefix(place, "credential.")
		u, err := url.Parse(strings.TrimSuffix(place, "."))
		if isHelper && isCredential && err == nil && (place == "" || u.Host == at.Host && (u.Scheme == "" || u.Scheme == at.Scheme)) {
			helpers = append(helpers, s.Value)
		}
	}
	return lists.Distinct(helpers)
}

func (d *doctor) sshKeys() string {
	if agent := d.Env("SSH_AUTH_SOCK"); agent == "" || view.Absent(agent) {
		return "the keys of your ssh configuration; there is no agent (SSH_AUTH_SOCK)"
	}
	return "the agent of SSH_AUTH_SOCK, and the keys of your ssh configuration"
}

func gitClientText(client getmodules.GitClient) string {
	switch {
	case client.InProcess && client.SSH:
		return "fetched in this process, over a connection of your ssh (the installed git only if its server needs it)"
	case client.InProcess && client.Alone:
		return "fetched in this process, over HTTP"
	case client.InProcess:
		return "fetched in this process, over HTTP (the installed git only if that fails)"
	case client.Alone:
		return "cannot be fetched without git: " + client.Reason
	}
	return "fetched by the installed git (" + client.Reason + ")"
}

// isAsked is false for packages that can only be downloaded.
func (n *need) isAsked() bool {
	return slices.Contains([]string{"modules", "providers", "provider mirror", "git", "oci"}, n.kind)
}

// ask sends a request that an installation sends too.
func (d *doctor) ask(ctx context.Context, n *need) (err error) {
	switch n.kind {
	case "modules":
		_, err = d.asking.Registry.ModuleVersions(ctx, n.module)
	case "providers", "provider mirror":
		_, err = d.asking.Providers.Versions(ctx, n.provider)
	case "git":
		_, err = d.asking.Fetcher.Tags(ctx, n.req)
	case "oci":
		err = d.askArtifacts(ctx, n.req)
	}
	return err
}

// askArtifacts asks an OCI repository for the artifact that the address names, or else whether it has any.
func (d *doctor) askArtifacts(ctx context.Context, req getmodules.Request) error {
	req.Package = req.Package.Without("version") // a constraint of the installer, and no argument of the source
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

const (
	// maxQuestions is how many requests are sent at once: over ssh each is a process and a login.
	maxQuestions = 8
	// maxAnswer limits each of them, with its retries.
	maxAnswer = 30 * time.Second
)

// askHosts has the limits of an installation for hosts that only packages and servers name.
func (d *doctor) askHosts(ctx context.Context) {
	ctx = httpx.WithNames(ctx, func(hostPort string) httpx.Naming {
		switch {
		case slices.Contains(d.asking.LocalHosts, hostPort):
			return httpx.NamedByUser
		case slices.ContainsFunc(d.needs, func(n *need) bool {
			return n.from == nil && httpx.HostPort(&url.URL{Scheme: n.scheme, Host: n.host}) == hostPort
		}):
			return httpx.NamedByProject
		}
		return httpx.NotNamed
	})
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxQuestions)
	for _, n := range d.needs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, maxAnswer)
			defer cancel()
			if n.from != nil {
				ctx = httpx.PointedTo(ctx, n.from)
			}
			n.err = d.ask(ctx, n)
		})
	}
	wait.Wait()
}

// lookAtHosts reports for each host who fetches from it, with which credentials, and what it answers. An error is a
// problem, such as credentials that the server refuses.
func (d *doctor) lookAtHosts(ctx context.Context) {
	d.begin("Hosts")
	if !d.offline {
		d.askHosts(ctx)
	}
	hosts := lists.GroupBy(d.needs, (*need).name)
	for _, needs := range hosts {
		d.host(ctx, needs)
	}
	switch {
	case len(hosts) == 0:
		d.ok("no host is needed")
	case d.offline:
		d.ok("%s not asked: --offline is set", view.Count(len(hosts), "host"))
	}
}

func (d *doctor) host(ctx context.Context, needs []*need) {
	name := needs[0].name()
	var kinds, facts []string
	asked, answered := false, false
	for _, n := range needs {
		kinds = append(kinds, n.kind)
		if n.client.Setting != "" {
			facts = append(facts, fmt.Sprintf("%s: requests go to %s, because of git's setting %s", n.kind, cmp.Or(n.client.URL.Host, "this machine"), n.client.Setting))
		}
		if n.client.URL != nil {
			facts = append(facts, n.kind+": "+gitClientText(n.client))
		}
		if sent, err := d.sends(ctx, n); err != nil {
			d.problem("%s, %s: %s", name, n.kind, err)
		} else if sent != "" {
			facts = append(facts, n.kind+": credentials: "+sent)
		}
		asked, answered = asked || n.isAsked(), answered || n.isAsked() && n.err == nil
	}
	for _, fact := range lists.Distinct(facts) {
		d.ok("%s, %s", name, fact)
	}
	what := name + " (" + strings.Join(lists.Distinct(kinds), ", ") + ")"
	var failed []advice.Message
	for _, n := range needs {
		if n.err != nil {
			failed = append(failed, advice.Messages(n.err)...)
		}
	}
	for _, text := range lists.Distinct(lists.Map(d.Explain(failed), advice.Message.Item)) {
		d.problem("%s: %s", what, text)
	}
	switch {
	case d.offline:
	case answered:
		d.ok("%s answers", what)
	case !asked:
		d.ok("%s is not asked before a package is fetched", what)
	}
}
