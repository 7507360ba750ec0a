package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/cotterpin/cotter"
)

// addProviders adds the locked providers to components, and their requirements to calls.
// owners has the components that modules belong to, by the modules' keys.
func addProviders(providers []cotter.Provider, owners map[string]string, components map[string]*cyclonedx.Component, calls map[string][]string) {
	for _, p := range providers {
		if p.Version == "" {
			continue // the provider is not locked
		}
		ref := p.Address.String() + "#" + p.Version
		c := &cyclonedx.Component{
			BOMRef:  ref,
			Type:    cyclonedx.ComponentTypeApplication,
			Group:   p.Address.Hostname.ForDisplay() + "/" + p.Address.Namespace,
			Name:    "terraform-provider-" + p.Address.Type,
			Version: p.Version,
		}
		c.PackageURL = fmt.Sprintf("pkg:terraform/%s/%s@%s?repository_url=%s", url.PathEscape(p.Address.Namespace), url.PathEscape(p.Address.Type),
			url.PathEscape(p.Version), url.QueryEscape(p.Address.Hostname.ForDisplay()))
		for _, h := range p.Hashes {
			addProperty(c, "cotter:"+h.Scheme(), string(h))
		}
		for _, use := range p.RequiredBy {
			addProperty(c, "cotter:required-by", use.String())
			owner := cmp.Or(owners[use.Path.String()], rootRef)
			if !slices.Contains(calls[owner], ref) {
				calls[owner] = append(calls[owner], ref)
			}
		}
		components[ref] = c
		calls[ref] = append([]string(nil), calls[ref]...)
	}
}
