package conformance

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ModuleRegistry checks the registry of an existing module: discovery and the module registry protocol. The
// error is that of the credentials or the context; the server's faults are in the report.
func (c Client) ModuleRegistry(ctx context.Context, module addrs.ModuleRegistryPackage) (*Report, error) {
	s, err := c.registry(ctx, module.String(), module.Host)
	if err != nil {
		return nil, err
	}
	base := s.discover(ctx, module.Host, "modules.v1")
	if base == nil {
		return s.finish(ctx)
	}
	listed := s.moduleVersions(ctx, base, module)
	for _, version := range ends(listed) {
		s.moduleDownload(ctx, base.JoinPath(module.Namespace, module.Name, module.TargetSystem, version, "download"))
	}
	s.missing(ctx, "modules.versions.unknown", base.JoinPath(module.Namespace, unknownName, module.TargetSystem, "versions"), s.authorization)
	s.missing(ctx, "modules.download.unknown", base.JoinPath(module.Namespace, module.Name, module.TargetSystem, "0.0.0-"+unknownName, "download"), s.authorization)
	return s.finish(ctx)
}

// moduleVersions returns the versions that can be asked for.
func (s session) moduleVersions(ctx context.Context, base *url.URL, module addrs.ModuleRegistryPackage) []string {
	u := base.JoinPath(module.Namespace, module.Name, module.TargetSystem, "versions")
	a := s.document(ctx, "modules.versions.", u, maxDocument)
	if a == nil {
		return nil
	}
	var list struct {
		Modules []struct {
			Source   *string
			Versions []struct{ Version string }
		}
	}
	err := a.decode(&list)
	if !s.report.expect(err == nil && len(list.Modules) > 0, "modules.versions.module", a.request, `"modules" has no element of this form: %v`, err) {
		return nil
	}
	first := list.Modules[0]
	if first.Source != nil { // it is optional
		asked := strings.Join([]string{module.Namespace, module.Name, module.TargetSystem}, "/")
		s.report.expect(strings.HasSuffix(*first.Source, asked), "modules.versions.module", a.request, "the first module is %s", excerpt(*first.Source))
	}
	var all []string
	for _, v := range first.Versions {
		all = append(all, v.Version)
	}
	s.report.expect(s.isStable(ctx, a, u), "modules.versions.stable", a.request, "a second request has another answer")
	return s.versionList("modules.versions.", a, all)
}

// versionList returns the valid versions, from the newest to the oldest.
func (s session) versionList(prefix string, a *answer, listed []string) []string {
	var valid []string
	for i, text := range listed {
		v, err := versions.Parse(text)
		if s.report.expect(err == nil && v.String() == text, prefix+"version", a.request, "version %s is not semantic", excerpt(text)) {
			s.report.expect(!slices.Contains(listed[:i], text), prefix+"unique", a.request, "version %s is listed twice", text)
			valid = append(valid, text)
		}
	}
	slices.SortFunc(valid, func(a, b string) int { return versions.MustParse(b).Compare(versions.MustParse(a)) })
	return valid
}

func ends[T comparable](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact([]T{list[0], list[len(list)-1]})
}

// moduleDownload checks the address of one version's package.
func (s session) moduleDownload(ctx context.Context, u *url.URL) {
	a, err := s.answered(ctx, "modules.download.status", u, s.authorization, maxDocument, http.StatusNoContent, http.StatusOK)
	if a == nil || !s.report.expect(err == nil, "modules.download.status", a.request, "%v", err) {
		return
	}
	location := a.location()
	if !s.report.expect(location != "", "modules.download.address", a.request, "neither the header X-Terraform-Get nor the document has an address") {
		return
	}
	source, err := addrs.ParseModuleSource(resolved(a.url, location))
	remote, isRemote := source.(addrs.ModuleSourceRemote)
	if !s.report.expect(err == nil && isRemote, "modules.download.valid", a.request, "the address is %s", excerpt(addrs.Redact(location))) {
		return
	}
	again, err := s.ask(ctx, http.MethodGet, u, s.authorization, maxDocument)
	s.report.expect(err == nil && again.location() == location, "modules.download.version", a.request, "a second request has another address")
	at, err := remote.Package.Location()
	archive := at.URL()
	if err != nil || archive.Scheme != "https" || remote.Package.Getter() != "https" {
		return // git and others have servers of their own
	}
	got, err := s.download(ctx, archive, nil)
	s.report.expect(err == nil && got.size > 0, "modules.download.fetch", "GET "+addrs.Redact(archive.String()), "the package cannot be fetched: %v", err)
	if err == nil {
		got.Close()
	}
}

// location is in the header or in the document, as OpenTofu's own registry does.
func (a *answer) location() string {
	if location := a.header.Get("X-Terraform-Get"); location != "" {
		return location
	}
	var document struct{ Location string }
	if a.decode(&document) != nil {
		return ""
	}
	return document.Location
}

// resolved returns an address, which is relative to the request if it begins with "/", "./" or "../".
func resolved(base *url.URL, location string) string {
	if strings.HasPrefix(location, "/") || strings.HasPrefix(location, "./") || strings.HasPrefix(location, "../") {
		if relative, err := url.Parse(location); err == nil {
			return base.ResolveReference(relative).String()
		}
	}
	return location
}
