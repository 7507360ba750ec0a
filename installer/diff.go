package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/lockfile"
)

func diffInterfaces(ctx context.Context, in *Installer, project Project, offline bool, old, updated *lockfile.File) (_ []config.InterfaceDiff, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := request{Project: project, InstallOptions: InstallOptions{Offline: offline}}
	changes := changedContent(old, updated)
	if len(changes) == 0 {
		return nil, cmp.Or(checkInstaller(in), req.check(), ctxerr.Of(ctx))
	}
	ctx, q, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, q.close()) }()
	d := &interfaceDiffer{
		inquiry: q, updated: updated,
		stager: &stager{Client: q.pool.Client, project: q.openProject, events: q.events, readOnly: true, mismatches: new(mismatches)},
		stores: q.pool.storesOf(req, q.events),
		above:  make(map[string]bool),
	}
	for _, c := range changes {
		for path := pathOf(c.Key); len(path) > 0; path = path[:len(path)-1] {
			d.above[path.String()] = true
		}
	}
	if _, _, err := q.walk(ctx, d.module, nil); err != nil {
		return nil, err // failures of the walk only mean that less of the configuration is known
	}
	diffs := make([]config.InterfaceDiff, len(changes))
	var group errgroup.Group
	group.SetLimit(q.clients.Parallel)
	for i, c := range changes {
		group.Go(func() error {
			found, err := d.diff(ctx, old, c)
			diffs[i] = config.InterfaceDiff{Path: pathOf(c.Key), Changes: found, Err: err}
			return nil // the other calls are still compared
		})
	}
	_ = group.Wait()
	return diffs, ctxerr.Of(ctx)
}

// changedContent returns the changes of calls whose modules may differ.
func changedContent(old, updated *lockfile.File) []lockfile.ModuleChange {
	all, _ := lockfile.Compare(old, updated)
	return slices.DeleteFunc(all, func(c lockfile.ModuleChange) bool {
		if c.Old == nil || c.New == nil {
			return true
		}
		return addrs.SameRecord(c.Old.Source, c.New.Source) && c.Old.Package.Subdir == c.New.Package.Subdir && lockentry.SameContent(*c.Old, *c.New)
	})
}

// interfaceDiffer walks the configuration with the newer lock, down to the calls that have changed.
type interfaceDiffer struct {
	*inquiry
	updated *lockfile.File
	stager  *stager
	stores  *storefetch.Stores
	// above has the keys of the calls that have changed, and of all calls above them.
	above map[string]bool

	calls     sync.Map // of *call, by their keys
	found     singleflight.Memo[foundKey, *placement]
	arguments singleflight.Memo[string, map[string]configread.Arguments]
}

type foundKey struct {
	statement lockentry.Statement
	key       string
}

// module records a call, and finds its module if the call or one below it has changed.
func (d *interfaceDiffer) module(ctx context.Context, c *call) (*module, error) {
	d.calls.Store(c.Key(), c)
	if c.From.IsLocal() {
		return d.LocalModule(c)
	}
	entry, locked := d.updated.Module(c.Key())
	if !locked || !d.above[c.Key()] || !c.From.IsOf(entry) {
		return nil, treewalk.ErrLeftOut
	}
	pkg, err := d.packageOf(ctx, c, entry, d.updated)
	if err != nil {
		return nil, treewalk.ErrLeftOut // diff reports the error
	}
	subdir, err := subdirOf(c, entry, pkg)
	if err != nil {
		return nil, treewalk.ErrLeftOut
	}
	placed := *pkg
	placed.Local = c.From.IsRemote() && c.From.Repository.Getter() == "file" // even if the lock has another address
	return placed.module(c, subdir)
}

func (d *interfaceDiffer) diff(ctx context.Context, old *lockfile.File, c lockfile.ModuleChange) ([]config.InterfaceChange, error) {
	before, err := d.interfaceOf(ctx, *c.Old, old)
	if err != nil {
		return nil, err
	}
	after, err := d.interfaceOf(ctx, *c.New, d.updated)
	switch {
	case err != nil:
		return nil, err
	case before.module == nil && after.module == nil:
		return nil, nil
	case after.module == nil:
		return []config.InterfaceChange{{Kind: kindSubmodule, Name: after.subdir, Old: "declared", Breaking: true}}, nil
	case before.module == nil:
		return []config.InterfaceChange{{Kind: kindSubmodule, Name: after.subdir, New: "declared"}}, nil
	}
	return d.forCall(ctx, c.Key, before.module.Diff(after.module)), nil
}

// forCall returns the changes that matter to a call, or all if the configuration does not have it.
func (d *interfaceDiffer) forCall(ctx context.Context, key string, changes []config.InterfaceChange) []config.InterfaceChange {
	if known, ok := d.calls.Load(key); ok {
		if arguments, ok := d.argumentsOf(ctx, known.(*call)); ok {
			return configread.ForCall(changes, arguments)
		}
	}
	return configread.BreakingFirst(changes)
}

// argumentsOf returns the arguments that a call sets; ok is false if they are not known.
func (d *interfaceDiffer) argumentsOf(ctx context.Context, c *call) (_ configread.Arguments, ok bool) {
	if len(c.Prefix) > 0 {
		return configread.Arguments{}, false
	}
	all, err := d.arguments.Do(ctx, c.Caller.Key(), func(ctx context.Context) (map[string]configread.Arguments, error) {
		return d.reader().ReadArguments(ctx, configDir(c.Caller))
	})
	arguments, ok := all[c.Name]
	return arguments, ok && err == nil
}

// declaredModule is what a module declares; module is nil if the package lacks its directory.
type declaredModule struct {
	module *configread.Interface
	subdir string
}

func (d *interfaceDiffer) interfaceOf(ctx context.Context, entry lockfile.Module, lock *lockfile.File) (declaredModule, error) {
	c, err := d.callOf(entry, lock)
	if err != nil {
		return declaredModule{}, err
	}
	pkg, err := d.packageOf(ctx, c, entry, lock)
	if err != nil {
		return declaredModule{}, err
	}
	subdir, err := subdirOf(c, entry, pkg)
	if err != nil {
		return declaredModule{}, err
	}
	found, err := d.reader().ReadInterface(ctx, configread.Dir{Path: filepath.Join(pkg.Files.Path(), filepath.FromSlash(subdir)), Files: pkg.Files, Subdir: subdir})
	if errors.Is(err, fs.ErrNotExist) {
		return declaredModule{subdir: subdir}, nil
	}
	return declaredModule{found, subdir}, err
}

// callOf returns the call of an entry: that of the configuration if it has the same source, else one made from
// the entry. As nothing is known about the author of the lock, it then counts as the call of a package: the one
// that the lock has above it or, for a call of the project itself, the called one.
func (d *interfaceDiffer) callOf(entry lockfile.Module, lock *lockfile.File) (*call, error) {
	if known, ok := d.calls.Load(entry.Key); ok {
		if c := known.(*call); c.From.Address != nil && !c.From.IsLocal() && c.From.IsOf(entry) {
			return c, nil
		}
	}
	path, err := addrs.ParseModule(entry.Key)
	if err != nil || path.IsRoot() {
		return nil, fmt.Errorf("%q is not the key of a module call", entry.Key)
	}
	above := path[:len(path)-1]
	from := entry
	for i := len(above); i > 0; i-- {
		if found, ok := lock.Module(above[:i].String()); ok {
			from = found
			break
		}
	}
	caller := &module{Call: &call{Path: above}, Package: &treewalk.Package{Key: above.String(), Entry: from}}
	return treewalk.ParseCall(caller, treewalk.BlockOf(entry), d.Dialect, nil)
}

func (d *interfaceDiffer) packageOf(ctx context.Context, c *call, entry lockfile.Module, lock *lockfile.File) (*placement, error) {
	key := foundKey{statementsOf(c, entry).Package, entry.Key}
	return d.found.Do(ctx, key, func(ctx context.Context) (*placement, error) {
		pkg, _, err := d.ladder(c, entry, lock).Climb(ctx)
		return pkg, failOnce(c, err)
	})
}

// ladder finds a package to read it. It needs no evidence for that, only the hashes of the lock.
func (d *interfaceDiffer) ladder(c *call, entry lockfile.Module, lock *lockfile.File) lockentry.Ladder[*placement] {
	atHand := func(ctx context.Context) (*placement, bool, error) {
		if found, err := d.stager.fromCache(ctx, entry, ""); err == nil {
			return found, true, nil
		}
		found, err := d.stager.installedPackage(ctx, entry)
		return found, found != nil, err
	}
	return lockentry.Ladder[*placement]{
		Accepts: evidencerules.For(evidencerules.Diff).Accepts,
		AtHand: []lockentry.Lookup[*placement]{atHand, func(ctx context.Context) (*placement, bool, error) {
			if err := checkCall(d.rules, c, lock); err != nil || !d.stores.Fetch(ctx, c.From, entry) {
				return nil, false, err
			}
			return atHand(ctx)
		}},
		Deliver: func(ctx context.Context, _ evidence.Evidence) (*placement, error) {
			at, err := d.origins.Locate(ctx, c.From, entry.Version)
			if err != nil {
				return nil, err
			}
			got, err := d.origins.Fetch(ctx, c.From, at, origins.Pin{Revision: entry.Revision(), Tree: entry.Hash("t1")})
			if err == nil {
				err = checkHashes(entry, got, nil)
			}
			if err != nil {
				return nil, err
			}
			found := d.newPlacement(entry, got.Tree)
			found.Files = project.FilesIn(d.pool.Cache.TreePath(got.Tree.T1()))
			return found, nil
		},
	}
}

// kindSubmodule is the Kind of a change of the package's directory that a call names.
const kindSubmodule = "submodule"
