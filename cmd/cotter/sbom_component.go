package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"path"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// packageRef names a package in the document: by its immutable address, and the
// version as which it was called.
func packageRef(m cotter.Module) string {
	pkg, _ := addrs.SplitSubdir(m.Package)
	ref := addrs.Redact(pkg)
	if m.Version != "" {
		ref += "#" + m.Version
	}
	return ref
}

// component describes a package.
func component(m cotter.Module, ref string) *cyclonedx.Component {
	address, _ := addrs.SplitSubdir(m.Package)
	pkg := addrs.ParseModulePackage(address)
	c := &cyclonedx.Component{
		BOMRef:  ref,
		Type:    cyclonedx.ComponentTypeLibrary,
		Name:    packageName(pkg),
		Version: cmp.Or(m.Version, pkg.Arg("ref"), pkg.Arg("digest"), pkg.Arg("rev")),
	}
	c.PackageURL = packageURL(pkg, c.Name, m.Version)
	if source, ok := m.Source.(addrs.ModuleSourceRegistry); ok {
		c.PackageURL = packageURL(pkg, source.Package.Name, m.Version)
		c.Group = source.Package.Host.ForDisplay() + "/" + source.Package.Namespace
		c.Name = source.Package.Name + "/" + source.Package.TargetSystem
	}
	addProperty(c, "cotter:package", pkg.Redacted())
	for _, h := range m.Hashes {
		// h1 and t1 are hashes of trees; what other tools mean by SHA-256 is
		// that of one file, which only the archive has.
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
	*c.Properties = append(*c.Properties, cyclonedx.Property{Name: name, Value: value})
}

// reference says where the package is from.
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

// archiveSum is the SHA-256 of an archive in hex; "" for hashes of trees.
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

// packageURL is a package in the form of https://github.com/package-url. There
// is no type for modules: those of GitHub repositories and of OCI artifacts fit,
// all else is "generic".
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

// bareURL is where a package is, without arguments and credentials.
func bareURL(pkg addrs.ModulePackage) string {
	u, err := addrs.ParseModulePackage(pkg.Redacted()).URL()
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// packageName is the last part of a package's address.
func packageName(pkg addrs.ModulePackage) string {
	u, err := url.Parse(bareURL(pkg))
	if err != nil {
		return pkg.Getter()
	}
	return strings.TrimSuffix(path.Base(u.Path), ".git")
}
