package installer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project/treewalk"
)

// Fetch fetches the module of one call into dir, with its whole package, and returns it: [Module.Dir] is the directory
// of the module in dir, and [Module.Hashes] are those that a lock would have. dir must not exist, and does not exist
// after an error of the fetch. The version is the newest that the call allows. A call is, for example,
//
//	config.Call{Source: "hashicorp/consul/aws", Version: new("~> 0.11")}
//
// Its Name, which only errors and events show, may be empty. The project says whose rules hold, and in which dialect
// the source is written; its lock and what is installed in it do not count, and nothing in it changes. A source with
// a local path is an error. The errors are those of [Session.Module].
func (in *Installer) Fetch(ctx context.Context, p Project, c config.Call, dir string) (_ Module, err error) {
	defer ctxerr.Keep(ctx, &err)
	p.NoLock, p.LockFile, p.LockContent = true, "", nil
	c.Name = cmp.Or(c.Name, "module")
	if err := treewalk.CheckNames(c); err != nil {
		return Module{}, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return Module{}, cmp.Or(err, error(&fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}))
	}
	inst, err := prepare(in, request{Project: p, InstallOptions: InstallOptions{DryRun: true, Update: Update{All: true}}})
	if err != nil {
		return Module{}, err
	}
	ctx, run, release, err := inst.begin(ctx, inst.req.run())
	if err != nil {
		return Module{}, err
	}
	defer func() { err = join(err, release()) }()
	call, err := run.ParseCall(run.RootModule(), c)
	if err == nil && call.From.IsLocal() {
		err = call.Fail(errors.New("it is a directory of this machine, which is not fetched"))
	}
	if err != nil {
		return Module{}, err
	}
	found, err := run.newResolver(nil, run.events).module(ctx, call)
	run.keepMemos()
	if err == nil {
		err = call.FailIf(run.copyTo(ctx, dir, placed(found).tree.T1()))
	}
	if err != nil {
		return Module{}, err
	}
	result := resultOf(found, p.KeepCredentials)
	result.Dir = filepath.Join(dir, filepath.FromSlash(found.Subdir))
	return result, nil
}

func (r *installRun) copyTo(ctx context.Context, dir string, t1 hashing.Hash) error {
	parent, err := pathsafe.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	_, err = r.pool.Cache.CopyTo(ctx, parent, filepath.Base(dir), t1, runtime.GOOS == "windows")
	return err
}
