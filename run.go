package cotter

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// run is one installation in the making.
type run struct {
	in      *Installer
	req     Request
	rules   rules
	dialect Dialect
	// detected is how the dialect was found, if the request does not say it, and
	// hostless the first call, by its path, for which it matters.
	detected detection
	hostless hostless
	config   ConfigReader
	events   *events

	work      *project.Project
	installed *installation
	lock      *lockfile.File
	lockSrc   []byte // nil where there is no lock file
	restored  restored
	recorded  *manifest.Manifest
	// former is the lock of the last run; nil where that is not known.
	former func() *lockfile.File
	*session
	ownsSession bool
	refusals    refusals
	// unifier has the versions that all calls of a source share; nil where
	// each call selects on its own. With peek nothing is placed: modules are
	// read where they are.
	unifier *unifier
	peek    bool

	// The whole packages that the project has or will have, by their t1 hash,
	// and where those are until then, by their names.
	wholes       sync.Map // of *packageTree
	stagedWholes sync.Map // of string
	wholeLocks   memo[hashing.Hash, *sync.Mutex]
	links        links

	// foldsCase says that names which differ only in case are one name for the
	// file system; folded has the calls by their names in lower case.
	foldsCase bool
	folded    sync.Map // of *node
}

// resolve finds out where the module that a node calls is, and puts it there
// for the time of the run.
func (r *run) resolve(ctx context.Context, n *node) error {
	if err := parseCall(n, r.dialect); err != nil {
		return err
	}
	r.hostless.note(n)
	entry, locked := r.lock.Module(n.path.String())
	if err := r.rules.judge(n, entry, locked); err != nil {
		return err
	}
	r.warnOfCredentials(n)
	if _, ok := n.source.(addrs.ModuleSourceLocal); ok {
		return placeLocal(n, r.req.dir())
	}
	return r.resolvePackage(ctx, n)
}

// online is an error if no server may be asked.
func (r *run) online() error {
	if r.req.Offline {
		return fmt.Errorf("it is neither installed nor in the cache, and %w", ErrOffline)
	}
	return nil
}

// listing is a slot for listing the versions that a server has.
func (r *run) listing(ctx context.Context) (release func(), err error) {
	if r.req.Offline {
		return nil, fmt.Errorf("the lock has no version that fits, and versions cannot be listed offline: %w; "+
			"run cotter install once without --offline to lock one", ErrOffline)
	}
	return r.slot(ctx)
}

// onlineSlot is slot for those who ask a server.
func (r *run) onlineSlot(ctx context.Context) (release func(), err error) {
	if err := r.online(); err != nil {
		return nil, err
	}
	return r.slot(ctx)
}

func (r *run) warn(path addrs.Module, message string) {
	r.events.emit(Warning{Path: path, Message: message})
}

func (r *run) warnDiagnostic(n *node, diag *hcl.Diagnostic) {
	message := diag.Summary
	if diag.Detail != "" {
		message += ": " + diag.Detail
	}
	if diag.Subject != nil {
		message = diag.Subject.String() + ": " + message
	}
	r.warn(n.path, message)
}
