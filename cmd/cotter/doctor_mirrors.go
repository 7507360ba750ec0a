package main

import (
	"context"
	"os"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
)

func (d *doctor) lookAtMirrors(ctx context.Context) {
	d.begin("Mirrors")
	used, err := usedMirrors(ctx, d.cmd, d.env, d.req.Dir, "")
	if err != nil {
		d.failed(err)
	}
	for _, u := range used {
		if _, err := openUsed(d.fetcher, u); err != nil {
			d.problem("modules: %s", addrs.RedactText(err.Error()))
			continue
		}
		d.ok("modules and locked providers: %s first, and then their origins", addrs.Redact(u.Address))
		d.needPackage(getmodules.Request{Package: addrs.ParseModulePackage(u.Address)}, true)
		if !u.Trusted {
			d.note("modules: cotter.hcl names %s, but you do not trust it: the origins are asked as well", addrs.Redact(u.Address))
		}
	}
	if err == nil && len(used) == 0 {
		d.ok("modules: none; they come from their origins")
	}
	providers := &d.config.Providers
	found := providers.Explicit
	for _, dir := range providers.ImpliedMirrors {
		if entries, err := os.ReadDir(below(d.req.Dir, dir)); !providers.Explicit && err == nil && len(entries) > 0 {
			found = true
			d.note("providers: those in %s are never requested from their registries", dir)
		}
	}
	if !found {
		d.ok("providers: none; they come from their registries")
	}
	for _, m := range providers.Methods {
		text := m.Kind
		switch m.Kind {
		case cliconfig.MethodFilesystemMirror:
			text += " " + m.Path
		case cliconfig.MethodNetworkMirror:
			text += " " + m.URL.Redacted()
		}
		d.ok("providers: %s%s%s", text, listed(" for ", m.Include), listed(" but not for ", m.Exclude))
	}
	if providers.PluginCacheDir != "" {
		d.ok("providers: the plugin cache %s is read", providers.PluginCacheDir)
	}
}

func listed(label string, patterns []getproviders.Pattern) string {
	if len(patterns) == 0 {
		return ""
	}
	return label + strings.Join(mapped(patterns, getproviders.Pattern.String), ", ")
}
