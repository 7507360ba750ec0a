package cotter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/userkey"
)

// placedPackage is a package of a project, confirmed and with the hashes of the lock.
type placedPackage struct {
	key       string
	statement modpkg.Statement
	tree      *pkgtree.Tree
	// dir has the files of the tree, and possibly more.
	dir string
}

// packer does something with the packages of projects, once with each.
type packer struct {
	*session
	// use is called for each statement once, from several goroutines.
	use func(context.Context, placedPackage) error
}

// pack calls use for the packages of several projects by their locks. They are
// confirmed and fetched as in an installation with Locked; nothing is placed, and the
// projects stay as they are. Then finish is called, before the session ends. If projects
// fail, it is not, and the error joins a *[ProjectError] for each.
func (in *Installer) pack(ctx context.Context, dirs []string, req Request, onEvent func(string, Event), newPacker func(*session) *packer, finish func() error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Providers, req.Update = true, true, false, nil, Update{}
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	key, err := in.userKey(all)
	if err != nil {
		return err
	}
	shared, done, err := in.sharedSession(key)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	p := newPacker(shared)
	failures := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(in.parallel())
	for i, dir := range dirs {
		group.Go(func() error {
			req := req
			req.Dir = dir
			if err := in.packProject(ctx, req, key, p, &events{fn: serial(dir)}); err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil // the others go on
		})
	}
	_ = group.Wait() // failures are kept one by one
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return finish()
}

// packProject is pack for one project.
func (in *Installer) packProject(ctx context.Context, req Request, key *userkey.Key, p *packer, events *events) (err error) {
	config, err := in.config(req)
	if err != nil {
		return err
	}
	project, err := in.openToInstall(ctx, req, key, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, project.close()) }()
	if err := project.readRules(); err != nil {
		return err
	}
	r := &installRun{openProject: project, config: config, events: events, session: p.session}
	r.confirmed = &confirmations{former: r.former, recorded: r.session.cache.Confirmed}
	defer r.confirmed.keep(r.session.cache)
	if err := r.checkLost(); err != nil {
		return err
	}
	modules, err := r.walk(ctx, r.newResolver(unified{}, events), nil)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for _, m := range modules {
		if !m.ownsPackage() {
			continue
		}
		group.Go(func() error { return m.call.failIf(p.use(ctx, packageOf(m))) })
	}
	return group.Wait()
}

// packageOf returns the package of a module that was placed for reading.
func packageOf(m *module) placedPackage {
	return placedPackage{key: m.pkg.key, statement: modpkg.StatementOf(m.pkg.entry), tree: m.pkg.tree, dir: m.pkg.currentPath}
}

// writeLayer writes the archive of a package to a file, and returns its artifact.
func (p placedPackage) writeLayer(ctx context.Context, name string) (_ modpkg.Artifact, err error) {
	root, err := opendir.Root(p.dir)
	if err != nil {
		return modpkg.Artifact{}, err
	}
	defer root.Close()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return modpkg.Artifact{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	written := &countingWriter{w: io.MultiWriter(file, sum)}
	if err := modpkg.WriteZip(ctx, written, root.FS(), p.tree.Tree); err != nil {
		return modpkg.Artifact{}, err
	}
	return modpkg.Artifact{Statement: p.statement, Layer: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: written.n}, nil
}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
