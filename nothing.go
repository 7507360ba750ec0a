package cotter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/manifest"
)

// nothingToInstall returns the result of a run that has nothing to do: the root
// module calls no modules, the lock has none, and there is no modules directory
// from which some would have to be removed. Stock tools write nothing then, and
// neither do we. It returns nil if the project is to be opened.
func (r *run) nothingToInstall(ctx context.Context) (*Result, error) {
	_, err := os.Lstat(filepath.Join(r.req.dataPath(), "modules"))
	if !errors.Is(err, fs.ErrNotExist) || len(r.req.UpgradeKeys) > 0 {
		return nil, nil
	}
	src, err := readLock(r.req)
	if err != nil {
		return nil, err
	}
	lock, err := parseLock(src, r.req)
	if err != nil || len(lock.Modules()) > 0 {
		return nil, err
	}
	if _, err := r.req.readRules(); err != nil {
		return nil, err
	}
	dialect := r.req.Dialect
	if dialect == DialectAuto {
		dialect = r.req.detect(ctx, src, lock, &manifest.Manifest{}).dialect
	}
	config, err := r.in.config(r.req)
	if err != nil {
		return nil, err
	}
	root := &rootReader{ConfigReader: config}
	r.config = root
	root.calls, root.diags = config.ReadCalls(ctx, ConfigDir{Dir: r.req.dir(), Display: ".", Dialect: dialect})
	if root.diags.HasErrors() || len(root.calls) > 0 {
		return nil, ctx.Err()
	}
	for _, diag := range root.diags {
		r.warnDiagnostic(&node{}, diag)
	}
	return &Result{Dialect: dialect, LockFile: filepath.Join(r.req.dir(), r.req.lockFile())}, ctx.Err()
}

// rootReader is a ConfigReader that has read the root module already.
type rootReader struct {
	ConfigReader
	calls []ModuleCall
	diags hcl.Diagnostics
}

// ReadCalls makes rootReader a ConfigReader.
func (c *rootReader) ReadCalls(ctx context.Context, dir ConfigDir) ([]ModuleCall, hcl.Diagnostics) {
	if dir.Path.IsRoot() {
		return c.calls, c.diags
	}
	return c.ConfigReader.ReadCalls(ctx, dir)
}
