package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
)

// packageRef is the immutable address of a package, and the version that was selected for the call.
func packageRef(m installer.Module) string {
	ref := m.Package.Package.Redacted()
	if !m.Version.IsZero() {
		ref += "#" + m.Version.String()
	}
	return ref
}

func component(m installer.Module, ref string) *cyclonedx.Component {
	pkg := m.Package.Package
	c := &cyclonedx.Component{
		BOMRef:  ref,
		Type:    cyclonedx.ComponentTypeLibrary,
		Name:    packageName(pkg),
		Version: cmp.Or(m.Version.String(), pkg.Arg("ref"), pkg.Arg("digest"), pkg.Arg("rev")),
	}
	c.PackageURL = packageURL(pkg, c.Name, m.Version.String())
	if source, ok := m.Source.(addrs.ModuleSourceRegistry); ok {
		c.PackageURL = packageURL(pkg, source.Package.Name, m.Version.String())
		c.Group = source.Package.Host.ForDisplay() + "/" + source.Package.Namespace
		c.Name = source.Package.Name + "/" + source.Package.TargetSystem
	}
	addProperty(c, "cotter:package", pkg.Redacted())
	if m.Replaces != nil {
		addProperty(c, "cotter:replaces", m.Replaces.String())
	}
	for _, h := range m.Hashes {
		// h1 and t1 are hashes of trees. Other tools expect the SHA-256 of an archive: see reference.
		if h.Scheme() != "zh" {
			addProperty(c, "cotter:"+h.Scheme(), string(h))
		}
	}
	c.ExternalReferences = &[]cyclonedx.ExternalReference{reference(pkg, m.Hashes)}
	return c
}

func addProperty(c *cyclonedx.Component, name, value string) {
	if c.Properties == nil {
		c.Properties = &[]cyclonedx.Property{}
	}
	if p := (cyclonedx.Property{Name: name, Value: value}); !slices.Contains(*c.Properties, p) {
		*c.Properties = append(*c.Properties, p)
	}
}

// reference is the origin of a package, with the hash of the archive if it is known.
func reference(pkg addrs.ModulePackage, hashes []hashing.Hash) cyclonedx.ExternalReference {
	ref := cyclonedx.ExternalReference{Type: cyclonedx.ERTypeDistribution, URL: bareURL(pkg)}
	if pkg.Getter() == "git" || pkg.Getter() == "hg" {
		ref.Type = cyclonedx.ERTypeVCS
	}
	for _, h := range hashes {
		if sum := archiveSum(h); sum != "" {
			ref.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}}
		}
	}
	return ref
}

// archiveSum returns a SHA-256 in hex, or "" for hashes of trees.
func archiveSum(h hashing.Hash) string {
	value, ok := strings.CutPrefix(string(h), "zh:")
	if !ok {
		return ""
	}
	if raw, err := base64.StdEncoding.DecodeString(value); err == nil && len(raw) == 32 {
		return hex.EncodeToString(raw)
	}
	return value
}

// packageURL has the form of https://github.com/package-url, which has no type for modules. The types for
// GitHub repositories and OCI artifacts fit; others are "generic".
func packageURL(pkg addrs.ModulePackage, name, version string) string {
	u, err := url.Parse(bareURL(pkg))
	if err != nil {
		return ""
	}
	commit, digest := pkg.Arg("ref"), pkg.Arg("digest")
	switch {
	case pkg.Getter() == "git" && u.Hostname() == "github.com":
		repository := strings.ToLower(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"))
		return "pkg:github/" + repository + "@" + commit
	case pkg.Getter() == "oci":
		return "pkg:oci/" + strings.ToLower(packageName(pkg)) + "@" + url.QueryEscape(digest) + "?repository_url=" + url.QueryEscape(u.Host+u.Path)
	case pkg.Getter() == "git":
		return generic(name, cmp.Or(version, commit), "vcs_url", "git+"+u.String()+"@"+commit)
	}
	return generic(name, version, "download_url", u.String())
}

func generic(name, version, qualifier, value string) string {
	purl := "pkg:generic/" + url.PathEscape(name)
	if version != "" {
		purl += "@" + url.PathEscape(version)
	}
	return purl + "?" + qualifier + "=" + url.QueryEscape(value)
}

func bareURL(pkg addrs.ModulePackage) string {
	at, err := addrs.ParseModulePackage(pkg.Redacted()).Location()
	if err != nil {
		return ""
	}
	u := at.URL()
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func packageName(pkg addrs.ModulePackage) string {
	u, err := url.Parse(bareURL(pkg))
	if err != nil {
		return pkg.Getter()
	}
	return strings.TrimSuffix(path.Base(u.Path), ".git")
}

func providerComponent(p installer.Provider) *cyclonedx.Component {
	return &cyclonedx.Component{
		BOMRef:  p.Address.String() + "#" + p.Version.String(),
		Type:    cyclonedx.ComponentTypeApplication,
		Group:   p.Address.Hostname.ForDisplay() + "/" + p.Address.Namespace,
		Name:    "terraform-provider-" + p.Address.Type,
		Version: p.Version.String(),
		PackageURL: fmt.Sprintf("pkg:terraform/%s/%s@%s?repository_url=%s", url.PathEscape(p.Address.Namespace), url.PathEscape(p.Address.Type),
			url.PathEscape(p.Version.String()), url.QueryEscape(p.Address.Hostname.ForDisplay())),
	}
}
