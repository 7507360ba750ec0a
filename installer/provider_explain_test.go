package installer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// listedProviders is a registry that lists versions, each as "1.0.0 5.0 linux_amd64", but has no
// packages for them. Its providers are in two namespaces of the default host.
type listedProviders map[string][]string

func (l listedProviders) ProviderVersions(_ context.Context, p addrs.Provider) (registryclient.ProviderListing, error) {
	list, ok := l[p.ForDisplay()]
	if !ok {
		return registryclient.ProviderListing{}, registryclient.ErrNotFound
	}
	var listing registryclient.ProviderListing
	for _, text := range list {
		var version, protocol, platform string
		if _, err := fmt.Sscan(text, &version, &protocol, &platform); err != nil {
			return listing, err
		}
		v, err := versions.Parse(version)
		if err != nil {
			return listing, err
		}
		at, err := addrs.ParsePlatform(strings.Replace(platform, "here", addrs.CurrentPlatform().String(), 1))
		if err != nil {
			return listing, err
		}
		listing.Versions = append(listing.Versions, registryclient.ProviderVersion{Version: v, Protocols: []string{protocol}, Platforms: []addrs.Platform{at}})
	}
	return listing, nil
}

func (l listedProviders) ProviderPackage(ctx context.Context, p addrs.Provider, v versions.Version, at addrs.Platform) (registryclient.ProviderPackage, error) {
	listing, err := l.ProviderVersions(ctx, p)
	for _, listed := range listing.Versions {
		if listed.Version == v && !listed.Compatible() {
			return registryclient.ProviderPackage{}, &registryclient.ProtocolError{Protocols: listed.Protocols}
		}
	}
	return registryclient.ProviderPackage{}, errors.Join(err, registryclient.ErrUnsupportedPlatform)
}

func (l listedProviders) ProviderRenamed(_ context.Context, p addrs.Provider) (addrs.Provider, bool, error) {
	if p.Type != "moved" {
		return addrs.Provider{}, false, nil
	}
	p.Namespace = "acme"
	return p, true, nil
}

// Each row has a provider or version that cannot be installed, and the text that the error adds
// to the registry's error.
func TestUnavailableProviders(t *testing.T) {
	t.Parallel()
	here := addrs.CurrentPlatform().String()
	registry := listedProviders{
		"acme/cloud":    {"1.0.0 5.0 here", "2.0.0 5.0 plan9_mips"},
		"acme/protocol": {"1.0.0 4.0 here", "1.1.0 6.1 here", "1.2.0 7.0 here"},
		"acme/old":      {"1.0.0 4.0 here"},
		"acme/empty":    {},
		"acme/zero":     {"0.0.0 5.0 here"},
	}
	const notFound = "not found"
	for _, row := range []struct{ name, config, want string }{
		{
			"the newest version is not there for this platform", required(`x = { source = "acme/cloud" }`),
			"provider acme/cloud 2.0.0: no package for this platform; it is available for plan9_mips; the newest version that can be used on " + here + " is 1.0.0",
		},
		{
			"a pinned version is not there for this platform", required(`x = { source = "acme/cloud", version = "2.0.0" }`),
			"provider acme/cloud 2.0.0: no package for this platform; it is available for plan9_mips; the newest version that can be used on " + here + " is 1.0.0, which the constraints exclude",
		},
		{
			"the newest version needs another tool", required(`x = { source = "acme/protocol" }`),
			"provider acme/protocol 1.2.0: it has the plugin protocol 7.0; stock tools support 5 and 6; the newest version that can be used on " + here + " is 1.1.0",
		},
		{
			"a pinned version needs an earlier tool", required(`x = { source = "acme/protocol", version = "1.0.0" }`),
			"provider acme/protocol 1.0.0: it has the plugin protocol 4.0; stock tools support 5 and 6; the newest version that can be used on " + here + " is 1.1.0, which the constraints exclude",
		},
		{
			"all versions need another tool", required(`x = { source = "acme/old" }`),
			"provider acme/old 1.0.0: it has the plugin protocol 4.0; stock tools support 5 and 6; no other version can be used on " + here,
		},
		{"no versions", required(`x = { source = "acme/empty" }`), "provider acme/empty: " + notFound + ": offers no versions"},
		{"0.0.0", required(`x = { source = "acme/zero", version = "0.0.0" }`), `provider acme/zero: no version meets the constraint "0.0.0"; offered: 0.0.0; 0.0.0 stands for no version and is never selected`},
		{"unknown", required(`x = { source = "acme/x" }`), "provider acme/x: " + notFound},
		{
			"a resource implies it", "\nresource \"x_thing\" \"a\" {}\n",
			"provider hashicorp/x: " + notFound + "; the root module has no source for it, and resource x_thing.a implies this one",
		},
		{
			"another one of the type is required", required(`x = { source = "acme/cloud", version = "1.0.0" }`) + "resource \"cloud_thing\" \"a\" {}\n",
			"provider hashicorp/cloud: " + notFound + "; the configuration also requires acme/cloud, of the same type; the root module has no source for it, and resource cloud_thing.a implies this one",
		},
		{
			"it has moved", required(`moved = { source = "hashicorp/moved" }`),
			"provider hashicorp/moved: " + notFound + "; the registry has it as acme/moved now",
		},
		{
			"a repository", required(`x = { source = "github.com/acme/x" }`),
			"provider github.com/acme/x: " + notFound + "; github.com has no registry of providers: a provider's source address names a registry, not the provider's repository",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			in := installer.New(installer.Options{Providers: &getproviders.Direct{Registry: registry}})
			_, err := installProviders(t.Context(), in, request{Project: installer.Project{Dir: writeProject(t, map[string]string{"main.tf": row.config}, "")}})
			got, _, _ := strings.Cut(errorText(err), "\n")
			if got != row.want {
				t.Errorf("InstallProviders:\n%s\nwant:\n%s", got, row.want)
			}
		})
	}
}
