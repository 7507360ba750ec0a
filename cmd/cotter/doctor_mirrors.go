package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getproviders"
)

// lookAtMirrors reports the mirrors that modules and providers are taken from first.
func (d *doctor) lookAtMirrors(ctx context.Context) {
	d.begin("Mirrors")
	d.moduleMirrors(ctx)
	providers := &d.config.Providers
	if !providers.Explicit {
		d.impliedMirrors(ctx, providers.ImpliedMirrors)
	}
	for _, m := range providers.Methods {
		d.ok("providers: %s%s", d.methodText(m), forProviders(m.Include, m.Exclude))
		if m.Kind == cliconfig.MethodFilesystemMirror && !filepath.IsAbs(m.Path) {
			d.noteBrought(ctx, m.Path)
		}
	}
	if providers.PluginCacheDir != "" {
		d.ok("providers: the plugin cache %s is read", providers.PluginCacheDir)
	}
	for _, o := range providers.DevOverrides {
		d.note("remove it from dev_overrides in the CLI configuration", "tofu and terraform start %s from %s, whatever is installed and locked", o.Provider.ForDisplay(), o.Dir)
	}
}

// moduleMirrors checks the mirror that --mirror or COTTER_MIRROR names, or otherwise the
// mirrors in the settings.
func (d *doctor) moduleMirrors(ctx context.Context) {
	used, err := usedMirrors(ctx, d.cmd, d.env, d.req.Dir, "")
	if err != nil {
		for _, m := range messages(err) {
			d.problem(m.Remedy, "modules: %s", d.line(m))
		}
		return
	}
	for _, u := range used {
		if _, err := openUsed(d.fetcher, u); err != nil {
			d.problem("a mirror is an address such as oci://registry.example.com/modules", "modules: %s", addrs.RedactText(err.Error()))
			continue
		}
		d.ok("modules and locked providers: %s first, and then their origins", addrs.Redact(u.Address))
		d.needPackage(need{key: "the mirror", pkg: addrs.ParseModulePackage(u.Address)})
		if !u.Trusted {
			d.note("add it to `trust_mirrors` in your own settings to trust it", "modules: cotter.hcl names %s, but you do not trust it: the origins are asked as well", addrs.Redact(u.Address))
		}
	}
	if len(used) == 0 {
		d.ok("modules: none; they come from their origins")
	}
}

// impliedMirrors checks the directories that are used as mirrors by default, if the CLI
// configuration has no provider_installation.
func (d *doctor) impliedMirrors(ctx context.Context, dirs []string) {
	found := false
	for _, dir := range dirs {
		name := dir
		if !filepath.IsAbs(name) {
			name = filepath.Join(d.req.Dir, name)
		}
		if entries, err := os.ReadDir(name); err == nil && len(entries) > 0 {
			d.note("", "providers: those in %s are never requested from their registries", dir)
			if found = true; !filepath.IsAbs(dir) {
				d.noteBrought(ctx, dir)
			}
		}
	}
	if !found {
		d.ok("providers: none; they come from their registries")
	}
}

// noteBrought names the providers in a directory of the project.
func (d *doctor) noteBrought(ctx context.Context, dir string) {
	found, err := getproviders.FilesystemMirror{Dir: filepath.Join(d.req.Dir, dir), InProject: true}.Providers(ctx)
	var names []string
	for _, p := range found {
		names = append(names, p.ForDisplay())
	}
	switch {
	case err != nil:
		d.problem("", "providers: %s", err)
	case len(names) > 0:
		d.note("a policy with `project_providers = \"deny\"` refuses them", "providers: those in %s are from this repository, unsigned: %s", dir, strings.Join(names, ", "))
	}
}

// methodText describes a method of provider_installation. It adds the host of a network
// mirror to the hosts.
func (d *doctor) methodText(m cliconfig.InstallationMethod) string {
	switch m.Kind {
	case cliconfig.MethodFilesystemMirror:
		return m.Kind + " " + m.Path
	case cliconfig.MethodNetworkMirror:
		d.host("https", m.URL.Host).serves("provider mirror", need{key: "provider mirror"})
		return m.Kind + " " + m.URL.Redacted()
	}
	return m.Kind
}

// forProviders describes the providers that a method applies to. It returns "" for all.
func forProviders(include, exclude []getproviders.Pattern) string {
	list := func(label string, patterns []getproviders.Pattern) string {
		if len(patterns) == 0 {
			return ""
		}
		var names []string
		for _, p := range patterns {
			names = append(names, p.String())
		}
		return label + strings.Join(names, ", ")
	}
	return list(" for ", include) + list(" but not for ", exclude)
}
