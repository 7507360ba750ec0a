package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/mirror"
)

// lookAtMirrors says from where modules and providers are taken first.
func (d *doctor) lookAtMirrors(context.Context) {
	d.begin("Mirrors")
	d.moduleMirror()
	providers := &d.config.Providers
	if !providers.Explicit {
		d.impliedMirrors(providers.ImpliedMirrors)
	}
	for _, m := range providers.Methods {
		d.ok("providers: %s%s", d.methodText(m), forProviders(m.Include, m.Exclude))
	}
	if providers.PluginCacheDir != "" {
		d.ok("providers: the plugin cache %s is read", providers.PluginCacheDir)
	}
	for _, o := range providers.DevOverrides {
		d.note("remove it from dev_overrides of the CLI configuration", "tofu and terraform start %s from %s, whatever is installed and locked", o.Provider.ForDisplay(), o.Dir)
	}
}

// moduleMirror looks at the mirror of --mirror or COTTER_MIRROR.
func (d *doctor) moduleMirror() {
	address := cmp.Or(d.cmd.String("mirror"), d.env("COTTER_MIRROR"))
	where := "COTTER_MIRROR"
	if d.cmd.String("mirror") != "" {
		where = "--mirror"
	}
	if address == "" {
		d.ok("modules: none; they come from their origins")
		return
	}
	if _, err := mirror.Open(d.fetcher, address); err != nil {
		d.problem("a mirror is an address such as oci://registry.example.com/modules", "modules: %s: %s", where, addrs.RedactText(err.Error()))
		return
	}
	d.ok("modules: %s first, and then their origins (%s)", addrs.Redact(address), where)
	n := need{key: "the mirror", pkg: addrs.ParseModulePackage(address)}
	d.needPackage(n)
}

// impliedMirrors looks at the directories that count if nothing is configured.
func (d *doctor) impliedMirrors(dirs []string) {
	found := false
	for _, dir := range dirs {
		name := dir
		if !filepath.IsAbs(name) {
			name = filepath.Join(d.req.Dir, name)
		}
		if entries, err := os.ReadDir(name); err == nil && len(entries) > 0 {
			d.note("", "providers: what %s has is never asked of its registry", dir)
			found = true
		}
	}
	if !found {
		d.ok("providers: none; they come from their registries")
	}
}

// methodText describes a method of provider_installation, and adds its host.
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

// forProviders says for which providers a method is; "" for all.
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
