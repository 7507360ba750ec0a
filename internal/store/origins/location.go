package origins

import (
	"context"
	"fmt"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Location is where a package can be fetched, and the directory in it that the origin points to.
type Location struct {
	Package addrs.ModulePackage
	Subdir  string
	// Revision is what the origin must deliver, or "".
	Revision string
	// tag is the version of a kind of the program's own that Revision belongs to, or "".
	tag string
	// answer is that of the registry which named the location for asked; nil if the configuration named it.
	answer *registryclient.Location
	asked  addrs.ModuleRegistryPackage
}

func (at Location) FromServer() bool { return at.answer != nil }

func (at Location) isHosted() bool { return at.answer != nil && at.answer.Direct }

func (at Location) origin(from callsource.Source) string {
	if at.answer == nil {
		return from.PackageOrigin
	}
	return at.answer.Origin
}

// caller is who has named an address, as far as that decides where requests may be sent.
type caller struct {
	fromPackage bool
	// scope is that of the package's host: packages of the same scope may point to the same hosts.
	scope hostname.Scope
}

func callerOf(s callsource.Source) caller {
	if !s.FromPackage {
		return caller{}
	}
	return caller{true, hostname.ScopeOf(ParseOrigin(s.PackageOrigin).Hostname())}
}

// ParseOrigin parses callsource.OriginOf. The URL has no host if the origin is not known.
func ParseOrigin(text string) *url.URL {
	from, err := url.Parse(text)
	if err != nil {
		return new(url.URL)
	}
	return from
}

// check refuses an address that a package must not name because of its host. It judges every call, although
// answers are shared.
func (o *Origins) check(ctx context.Context, from callsource.Source) error {
	if !from.FromPackage {
		return nil
	}
	to := from.Host()
	if to == nil {
		return nil
	}
	if err := httpx.CheckReach(limited(ctx, from), to); err != nil {
		return fmt.Errorf("%w: %w", getmodules.ErrRefusedLocation, err)
	}
	return nil
}

func limited(ctx context.Context, s callsource.Source) context.Context {
	if !s.FromPackage {
		return ctx
	}
	return httpx.PointedTo(ctx, ParseOrigin(s.PackageOrigin))
}

// listing is the key of a list of versions.
type listing struct {
	pkg addrs.ModuleRegistryPackage
	by  caller
}

func repositoryOf(s callsource.Source) named { return Location{Package: s.Repository}.namedBy(s) }

func requestFor(s callsource.Source) getmodules.Request {
	return Location{Package: s.Repository}.request(s)
}

func (at Location) request(from callsource.Source) getmodules.Request {
	address := at.namedBy(from)
	return getmodules.Request{Package: address.pkg, FromServer: address.fromServer, FromPackage: address.by.fromPackage, Origin: at.origin(from)}
}

// named is an address and who has named it. Requests for equal ones share an answer.
type named struct {
	pkg        addrs.ModulePackage
	fromServer bool
	by         caller
}

// namedBy returns no caller for a location that a server has named: the rules for servers are the same for
// every caller.
func (at Location) namedBy(from callsource.Source) named {
	if at.FromServer() {
		return named{pkg: at.Package, fromServer: true}
	}
	return named{pkg: at.Package, by: callerOf(from)}
}

type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
	by      caller
}

type reference struct {
	named
	// locked is the locked commit if the ref in the address may abbreviate it, and "" otherwise.
	locked string
}
