package cotter

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/trace"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Operation is something that a run asks of a server or of another program; see [Installer].Trace.
type Operation struct {
	// Kind is "http" for a request, with the redirects that it follows, "git" or "hg" for a run of
	// that program, and "fetch" for getting a package, which consists of others.
	Kind string
	// Name is the method of a request, or the subcommand of a program; "" for a fetch.
	Name string
	// Target is the URL of a request without its query, or the package of a fetch. It has no
	// credentials. It is "" for a program.
	Target string
}

// scope is what the contexts of a session's requests have: a memory for the answers that clients keep,
// so that clients that live longer ask again in the next session, and the hook that is told of each
// operation.
type scope struct {
	memory singleflight.Memory
	hook   trace.Hook
}

// in returns a context for requests of the session.
func (s *scope) in(ctx context.Context) context.Context {
	ctx = s.memory.In(ctx)
	if s.hook != nil {
		ctx = trace.With(ctx, s.hook)
	}
	return ctx
}

// hookOf returns the hook for an Installer.Logger and an Installer.Trace; nil if both are nil.
func hookOf(logger *slog.Logger, tracer func(context.Context, Operation) (context.Context, func(error))) trace.Hook {
	if logger == nil && tracer == nil {
		return nil
	}
	return func(ctx context.Context, op trace.Operation) (context.Context, func(error)) {
		done := func(error) {}
		if tracer != nil {
			if traced, end := tracer(ctx, Operation(op)); traced != nil {
				ctx = traced
				if end != nil {
					done = end
				}
			}
		}
		if logger == nil || !logger.Enabled(ctx, slog.LevelDebug) {
			return ctx, done
		}
		began := time.Now()
		return ctx, func(err error) {
			done(err)
			attrs := []slog.Attr{slog.String("kind", op.Kind), slog.String("name", op.Name), slog.String("target", op.Target), slog.Duration("duration", time.Since(began))}
			if err != nil {
				attrs = append(attrs, slog.String("error", addrs.RedactText(err.Error())))
			}
			logger.LogAttrs(ctx, slog.LevelDebug, "operation", attrs...)
		}
	}
}

// logged returns a callback that also logs warnings; fn if there is no logger.
func logged(logger *slog.Logger, fn func(Event)) func(Event) {
	if logger == nil {
		return fn
	}
	return func(event Event) {
		if w, ok := event.(Warning); ok {
			logger.Warn(w.Message, "module", w.Path.String(), "kind", string(w.Kind))
		}
		if fn != nil {
			fn(event)
		}
	}
}

// The clients of a session send their requests in its scope, whoever has made them.

type scopedRegistry struct {
	registryclient.ModuleRegistry
	scope *scope
}

func (r scopedRegistry) ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	return r.ModuleRegistry.ModuleVersions(r.scope.in(ctx), pkg)
}

func (r scopedRegistry) PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error) {
	return r.ModuleRegistry.PackageLocation(r.scope.in(ctx), pkg, v)
}

func (r scopedRegistry) Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error {
	return r.ModuleRegistry.Download(r.scope.in(ctx), pkg, at, w)
}

type scopedFetcher struct {
	getmodules.Source
	scope *scope
}

func (f scopedFetcher) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	return f.Source.Fetch(f.scope.in(ctx), req)
}

func (f scopedFetcher) Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error) {
	return f.Source.Reference(f.scope.in(ctx), req)
}

func (f scopedFetcher) Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error) {
	return f.Source.Tags(f.scope.in(ctx), req)
}

func (f scopedFetcher) Reachable(ctx context.Context, req getmodules.Request, commits ...getmodules.LockedCommit) (map[string]getmodules.Reach, error) {
	return f.Source.Reachable(f.scope.in(ctx), req, commits...)
}

type scopedProviders struct {
	getproviders.Source
	scope *scope
}

// scoped returns the source in the scope; nil if it is nil.
func (s *scope) scoped(source getproviders.Source) getproviders.Source {
	if source == nil {
		return nil
	}
	return scopedProviders{source, s}
}

func (p scopedProviders) Versions(ctx context.Context, provider addrs.Provider) (getproviders.Listing, error) {
	return p.Source.Versions(p.scope.in(ctx), provider)
}

func (p scopedProviders) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (getproviders.Package, error) {
	pkg, err := p.Source.Package(p.scope.in(ctx), provider, version, platform)
	if pkg == nil {
		return nil, err
	}
	return scopedPackage{pkg, p.scope}, err
}

type scopedPackage struct {
	getproviders.Package
	scope *scope
}

func (p scopedPackage) Authenticate(ctx context.Context) (getproviders.Authentication, error) {
	return p.Package.Authenticate(p.scope.in(ctx))
}

func (p scopedPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	ctx, done := trace.Start(p.scope.in(ctx), trace.Operation{Kind: "fetch", Target: p.Location()})
	err := p.Package.Download(ctx, file, progress)
	done(err)
	return err
}
