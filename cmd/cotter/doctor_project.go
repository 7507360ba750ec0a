package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getproviders"
)

// need is a module or provider that the configuration or the lock needs from another place.
type need struct {
	key string // the key of a module, or "provider" and an address
	// registry is the host of the registry to ask, or "" if no registry is needed.
	registry addrs.Hostname
	// pkg is the address of the package. It is zero if only the registry knows it.
	pkg addrs.ModulePackage
}

// lookAtProject reports which stock tool the project is for, and collects its needs.
func (d *doctor) lookAtProject(ctx context.Context) {
	d.begin("Project")
	d.readCLIConfig(ctx)
	if dir, empty := withoutConfiguration(ctx, d.req); empty {
		d.note("run `cotter doctor DIR` for the directory of a root module", "there is no configuration in %s", dir)
		return
	}
	d.tellTool(ctx)
	req := d.req
	req.BestEffort, req.KeepCredentials = true, true
	result, err := d.in.Load(ctx, req)
	if err != nil {
		for _, m := range messages(err) {
			d.problem(m.Remedy, "%s", d.line(m))
		}
		return
	}
	absent := 0
	for _, m := range result.Modules {
		d.installedDirs = append(d.installedDirs, m.Dir)
		d.needModule(m.Path.String(), m.Source, m.Package)
	}
	for _, u := range result.Unresolved {
		if u.Source == nil || is[*cotter.ConfigError](u.Err) {
			for _, m := range messages(u.Err) {
				d.problem(m.Remedy, "%s", d.line(m))
			}
			continue
		}
		absent++
		d.needModule(u.Path.String(), u.Source, "")
	}
	if absent > 0 {
		d.note("run `cotter install`", "%s not installed", areModules(absent))
	} else if len(result.Modules) > 0 {
		d.ok("%s installed", areModules(len(result.Modules)))
	}
	d.needProviders(ctx)
}

func areModules(n int) string {
	if n == 1 {
		return "1 module is"
	}
	return fmt.Sprintf("%d modules are", n)
}

// readCLIConfig reads the CLI configuration of the stock tools.
func (d *doctor) readCLIConfig(ctx context.Context) {
	config, err := cliconfig.OSEnvironment().Load(ctx, cliconfig.Options{
		Terraform: d.req.Dialect == cotter.DialectTerraform,
		Warn:      func(text string) { d.note("", "%s", text) },
	})
	d.config = config
	var diags hcl.Diagnostics
	errors.As(err, &diags)
	for _, m := range fromDiagnostics("", diags) {
		d.problem("", "%s", d.line(m))
	}
}

// tellTool reports which stock tool the project is for, and how that was determined.
func (d *doctor) tellTool(ctx context.Context) {
	dialect, signs, err := d.in.FindDialect(ctx, d.req)
	if err != nil {
		return // Load returns the same error
	}
	const remedy = "choose the tool with --for tofu or --for terraform, or with `for` in the settings of cotter.hcl"
	switch {
	case d.req.Dialect != cotter.DialectAuto:
		d.ok("for %s: set by a flag or the settings", d.req.Dialect)
	case len(signs) == 0 && len(d.req.Tools) == 1:
		d.ok("for %s: it is the only one in PATH, and nothing indicates another tool", dialect)
	case len(signs) == 0:
		d.ok("for tofu: nothing indicates another tool")
	default:
		d.req.Dialect = signs[0].Dialect
		d.ok("for %s: %s", signs[0].Dialect, signs[0].What)
	}
	for _, s := range signs {
		if d.req.Dialect != cotter.DialectAuto && s.Dialect != d.req.Dialect {
			d.note(remedy, "a sign of %s: %s", s.Dialect, s.What)
		}
	}
}

// needModule adds what a module needs. pkg is the address of its package if that is known,
// and otherwise "".
func (d *doctor) needModule(key string, source addrs.ModuleSource, pkg string) {
	n := need{key: key}
	switch s := source.(type) {
	case addrs.ModuleSourceRegistry:
		n.registry = s.Package.Host
	case addrs.ModuleSourceRemote:
		n.pkg = s.Package
	default:
		return
	}
	if n.pkg.IsZero() && pkg != "" {
		n.pkg = addrs.ParseModulePackage(pkg)
	}
	d.needs = append(d.needs, n)
	if n.registry != "" {
		d.host("https", string(n.registry)).serves("modules", n)
	}
	d.needPackage(n)
}

// needPackage adds the host of a package.
func (d *doctor) needPackage(n need) {
	if n.pkg.IsZero() {
		return
	}
	location, err := n.pkg.Location()
	if err != nil || location.Host() == "" {
		return
	}
	at := location.URL()
	scheme := at.Scheme
	if scheme == "oci" || scheme == "s3" || scheme == "gcs" {
		scheme = "https"
	}
	d.host(scheme, at.Host).serves(kindOf(n.pkg, at), n)
}

// kindOf returns the kind of a package, as in host.kinds.
func kindOf(pkg addrs.ModulePackage, at *url.URL) string {
	switch getter := pkg.Getter(); getter {
	case "git", "hg", "s3", "gcs", "oci", "file":
		return getter
	case "http", "https":
		return "archives"
	default:
		return cmp.Or(getter, at.Scheme)
	}
}

// needProviders adds the registries of the providers.
func (d *doctor) needProviders(ctx context.Context) {
	providers, err := providersOf(ctx, d.in, d.req)
	if err != nil {
		return // the providers are not known if modules are not installed
	}
	for _, p := range providers {
		if p.Address.IsBuiltIn() {
			continue
		}
		if !d.fromRegistry(ctx, p.Address) {
			continue
		}
		n := need{key: "provider " + p.Address.ForDisplay(), registry: p.Address.Hostname}
		d.host("https", string(p.Address.Hostname)).serves("providers", n)
	}
}

// fromRegistry reports whether a provider can come from its registry. It does not if the CLI
// configuration has only mirrors for it, or a directory that is a mirror by default has it.
func (d *doctor) fromRegistry(ctx context.Context, provider addrs.Provider) bool {
	providers := &d.config.Providers
	if !providers.Explicit {
		return !slices.ContainsFunc(providers.ImpliedMirrors, func(dir string) bool {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(d.req.Dir, dir)
			}
			found, err := getproviders.FilesystemMirror{Dir: dir}.Providers(ctx)
			return err == nil && slices.Contains(found, provider)
		})
	}
	matches := func(p getproviders.Pattern) bool { return p.Matches(provider) }
	return slices.ContainsFunc(providers.Methods, func(m cliconfig.InstallationMethod) bool {
		return m.Kind == cliconfig.MethodDirect && !slices.ContainsFunc(m.Exclude, matches) &&
			(len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
	})
}

// lookAtCalls reports how the package of each call would be fetched.
func (d *doctor) lookAtCalls(ctx context.Context) {
	d.begin("Calls")
	ways := make(map[string][]string)
	for _, n := range d.needs {
		way := d.wayOf(ctx, n)
		ways[way] = append(ways[way], n.key)
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		d.ok("%s: %s", way, callList(ways[way]))
	}
	if len(d.needs) == 0 {
		d.ok("no call needs another place")
	}
}

const (
	// maxListedCalls is the maximum number of calls that a finding names.
	maxListedCalls = 12
	// callsWidth is the width of a line of calls, in characters.
	callsWidth = 66
)

// callList returns the keys of a few calls, or the number of many with the first of them, on lines of
// their own.
func callList(keys []string) string {
	if short := strings.Join(keys, ", "); len(keys) <= 5 && len(short) <= callsWidth {
		return short
	}
	text := count(len(keys), "call") + "\n" + folded(strings.Join(keys[:min(len(keys), maxListedCalls)], ", "), callsWidth, "")
	if more := len(keys) - maxListedCalls; more > 0 {
		text += fmt.Sprintf(",\nand %d more", more)
	}
	return text
}

// wayOf describes how the package of a need is found and fetched.
func (d *doctor) wayOf(ctx context.Context, n need) string {
	from := ""
	if n.registry != "" {
		from = "the registry, and then "
	}
	if n.pkg.IsZero() {
		return from + "the address that it returns"
	}
	switch kind := n.pkg.Getter(); kind {
	case "git":
		return from + "git " + d.gitWay(ctx, n.pkg)
	case "http", "https":
		return from + "an archive over " + kind
	case "s3":
		return from + "S3, with the credentials of the AWS SDK"
	case "gcs":
		return from + "Google Cloud Storage, with the default credentials"
	case "oci":
		return from + "an OCI registry"
	case "hg":
		return from + "the installed hg"
	case "file":
		return from + "files of this machine"
	default:
		return from + kind
	}
}

// gitWay describes which git client fetches a package.
func (d *doctor) gitWay(ctx context.Context, pkg addrs.ModulePackage) string {
	client, err := d.fetcher.GitClient(ctx, pkg)
	switch {
	case err != nil:
		return "fails: " + err.Error()
	case client.InProcess && client.SSH:
		return "in this process, over a connection of your ssh (the installed git only if its server needs it)"
	case client.InProcess && client.BuiltIn:
		return "in this process, over HTTP"
	case client.InProcess:
		return "in this process, over HTTP (the installed git only if that fails)"
	case client.BuiltIn:
		return "by the built-in client (" + client.Reason + ")"
	}
	return "by the installed git (" + client.Reason + ")"
}
