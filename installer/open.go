package installer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// openProject is a project as a run finds it. It does not change during the run.
type openProject struct {
	treewalk.Project
	req  request
	user user
	// merges says that the run may merge a lock with conflict markers.
	merges bool
	// files are the project's files on disk; nil if there is no modules directory.
	files *project.Project
	dirs  *packagedir.Dirs
	rules rules.Rules

	// merge is set if LockSrc has conflict markers, which Lock has not.
	merge lockMerge
	// former is the lock of the last run; nil if it is not known.
	former *lockfile.File

	// dialectGiven says that the request names the dialect. Otherwise it was detected.
	dialectGiven bool
	foldsCase    bool
}

type user struct {
	// key seals the files by which later runs recognize what this user's runs have written.
	key *userkey.Key
	// hasState says that later runs have the same key.
	hasState bool
}

func newOpenProject(req request, by user, merges bool, files *project.Project) *openProject {
	dirs := packagedir.NewDirs(files, req.dir(), req.modulesDir(), req.modulesPath())
	p := &openProject{req: req, user: by, merges: merges, files: files, dirs: dirs}
	p.Dirs, p.MarkOf = dirs.Dirs, p.markOf
	return p
}

func (p *openProject) addresses() addresses { return addresses{p.former, p.files} }

// markOf returns the mark of the address of a call.
func (p *openProject) markOf(c *call) string {
	if c.Caller.IsLocked() {
		return p.addresses().mark(c.Key()) // the lock has the call, and not its whole address
	}
	return markOf(p.user.key, c.From.Address)
}

// openToChange locks the project for this process, and undoes what a killed run has left. The project must be
// closed.
func openToChange(ctx context.Context, req request, by user, events *events) (*openProject, error) {
	onWait := func() { events.emit(event.Waiting{Dir: req.dir()}) }
	files, err := project.Open(ctx, req.location(), by.key, onWait)
	if err != nil {
		return nil, err
	}
	warnOfNotices(events, files.Notices(), by.hasState)
	p := newOpenProject(req, by, !req.Locked, files)
	p.dirs.ReadAhead()
	if err := p.read(ctx); err != nil {
		return nil, join(err, p.close())
	}
	return p, nil
}

// view reads a project without locking it: another process may change it at the same time. The project must be
// closed.
func view(ctx context.Context, req request, by user, merges bool) (*openProject, error) {
	files, err := project.View(req.location(), by.key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p := newOpenProject(req, by, merges, files)
	if err := p.read(ctx); err != nil {
		return nil, join(err, p.close())
	}
	return p, nil
}

// writesLock reports whether the run may write the lock.
func (p *openProject) writesLock() bool { return p.merges && !p.req.DryRun }

func (p *openProject) close() error {
	if p.files == nil {
		return nil
	}
	p.dirs.StopReading()
	return p.files.Close()
}

// read reads everything except the configuration.
func (p *openProject) read(ctx context.Context) (err error) {
	if p.LockSrc, err = readLock(p.req.Project, p.writesLock()); err != nil {
		return err
	}
	p.Lock, err = lockfile.Parse(p.LockSrc, p.req.lockFile())
	if conflicted, ok := errors.AsType[*lockfile.SyntaxError](err); ok && p.merges && isConflict(conflicted) {
		var merged []byte
		if merged, p.merge, err = mergeLock(ctx, p.req, p.LockSrc, conflicted); err == nil {
			p.Lock, err = lockfile.Parse(merged, p.req.lockFile())
		}
	}
	if err != nil {
		return err
	}
	if p.files != nil {
		if !p.req.NoLock {
			p.former = formerLock(p.files, p.LockSrc, p.Lock)
		}
		p.foldsCase = p.files.FoldsCase()
	}
	if p.dialectGiven = p.req.Dialect != DialectAuto; p.dialectGiven {
		p.Dialect = p.req.Dialect
	}
	if err := p.Read(ctx, p.files, p.detectable()); err != nil {
		return err
	}
	return nil
}

// detectable returns what the signs of a stock tool can be found in.
func (p *openProject) detectable() detect.Project {
	return detect.Project{
		Location: p.req.location(), LockSrc: p.LockSrc, Lock: p.Lock, Recorded: p.Recorded, Tools: p.req.tools(), Next: p.req.Next,
	}
}

func (p *openProject) readRules() (err error) {
	p.rules, err = p.req.readRules()
	return err
}

// formerLock returns the lock as the last run left it; nil if it is not known. lock is the current one, parsed
// from src.
func formerLock(files *project.Project, src []byte, lock *lockfile.File) *lockfile.File {
	former := files.FormerLock()
	if former == nil {
		return nil
	}
	if bytes.Equal(former, src) {
		return lock
	}
	parsed, _ := lockfile.Parse(former, "") // nil if it is not valid
	return parsed
}

func (p *openProject) reader() configread.Reader {
	return configread.Reader{Terraform: p.ReadsAsTerraform()}
}

func (p *openProject) testDir() string { return cmp.Or(p.req.Inputs.TestDir, configread.DefaultTests) }

// assumedDialect returns a warning if the dialect was not certain, and a zero one otherwise. address is that of
// a module or a provider that depends on it.
func (p *openProject) assumedDialect(address string, at hcl.Range) event.Warning {
	if p.dialectGiven || p.Detected.IsOnlyTool {
		return event.Warning{}
	}
	w := event.Warning{Range: at, Kind: event.WarningDialectAssumed}
	assumed := fmt.Sprintf("%s was assumed, so %s comes from %s", p.Dialect, address, p.Dialect.RegistryHost().ForDisplay())
	if p.Detected.IsGuess() {
		w.Message = "nothing in the project shows whether it is for tofu or for terraform; " + assumed
		return w
	}
	if against := p.Detected.Contradiction(); against != "" {
		w.Message = fmt.Sprintf("it is not clear which stock tool the project is for: %s (%s), but %s (%s); %s",
			p.Detected.Signs[0].What, p.Dialect, against, otherDialect(p.Dialect), assumed)
		return w
	}
	return event.Warning{}
}

// mayUseTerraform reports whether the user may run Terraform in the project. If there is no sign, they may,
// unless they only have OpenTofu.
func (p *openProject) mayUseTerraform() bool {
	switch {
	case p.Dialect == DialectTerraform || p.req.Next == DialectTerraform:
		return true
	case p.dialectGiven:
		return false
	case p.Detected.IsGuess():
		return slices.Contains(p.req.Tools, DialectTerraform) || !slices.Contains(p.req.Tools, DialectOpenTofu)
	}
	return p.Detected.Contradiction() != ""
}

// providerLock is the lock that has the providers: that of stock tools, or the one of the modules.
type providerLock struct {
	treeproviders.Lock
	src []byte // nil if there is no such file
	req request
	// hasModules says that the modules are in the same file.
	hasModules bool
}

// providerLock reads the lock that has the providers. What the project's stock tool refuses in it is an error:
// the tool would fail after the installation, and a provider whose block cannot be read would count as not
// locked.
func (p *openProject) providerLock() (*providerLock, error) {
	l := &providerLock{src: p.LockSrc, req: p.req, hasModules: p.req.hasStockLock()}
	l.File, l.Tofu, l.Merged = p.Lock, p.Dialect == DialectOpenTofu, p.merge.providers
	l.Unmanaged = p.req.Unmanaged
	if !l.hasModules {
		var err error
		l.req.LockFile = lockfile.Name
		if l.src, err = readLock(l.req.Project, p.writesLock()); err != nil {
			return nil, err
		}
		if l.File, err = lockfile.Parse(l.src, l.req.lockFile()); err != nil {
			return nil, err
		}
	}
	if faults := l.StockFaults(p.Dialect.Parser()); faults.HasErrors() {
		return nil, &lockfile.SyntaxError{File: l.req.lockFile(), Diagnostics: faults}
	}
	return l, nil
}

// hasStockLock reports whether the lock has the providers too: it is the file of stock tools, possibly through
// a symbolic link, or it is not below the root module.
func (p Project) hasStockLock() bool {
	if !p.hasLockFile() || !filepath.IsLocal(p.lockFile()) || filepath.Clean(p.lockFile()) == lockfile.Name {
		return true
	}
	own, err := os.Stat(p.lockPath())
	if err != nil {
		return false
	}
	stock, err := os.Stat(filepath.Join(p.dir(), lockfile.Name))
	return err == nil && os.SameFile(own, stock)
}

// ReadLock reads and parses the lock of a project. The result is empty if the file does not exist. An
// invalid lock is a *[lockfile.SyntaxError], and a symbolic link out of the git repository a *[LinkedLockError].
func ReadLock(ctx context.Context, p Project) (*lockfile.File, error) {
	if err := ctxerr.Of(ctx); err != nil {
		return nil, err
	}
	src, err := readLock(p, false)
	if err != nil {
		return nil, err
	}
	return lockfile.Parse(src, p.lockFile())
}

// readLock returns nil if the file does not exist, or if the project has no lock. A run that writes the lock refuses a
// link: stock tools would replace it by a file, and others may share its target.
func readLock(p Project, writes bool) ([]byte, error) {
	if !p.hasLockFile() {
		return p.LockContent, nil
	}
	src, err := project.ReadLock(p.location())
	err = p.unusableLock(err)
	if linked, ok := errors.AsType[*LinkedLockError](err); ok && !writes {
		if src, err = project.ReadLinkedLock(p.location()); err == nil {
			return src, nil
		}
		if refused, ok := errors.AsType[*config.FileReadError](err); ok {
			err = errors.New(refused.Reason) // the rest of its text is about expressions
		}
		linked.Err = fmt.Errorf("%s: %w", linked.File, err)
		return nil, linked
	}
	return src, err
}

// unusableLock returns the error for a lock that is not a regular file.
func (p Project) unusableLock(err error) error {
	var pathErr *fs.PathError
	if err == nil || !errors.As(err, &pathErr) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	target, notLink := os.Readlink(p.lockPath())
	if notLink != nil {
		return fmt.Errorf("the lock file cannot be used: %w", err)
	}
	linked := &LinkedLockError{File: p.lockFile(), Target: target, Err: err}
	below := filepath.Join(filepath.Dir(p.lockFile()), target)
	if !filepath.IsAbs(target) && filepath.IsLocal(below) {
		linked.Inside = filepath.ToSlash(below)
	}
	return linked
}

// warnOfNotices warns about files that a killed run or another user has left. Without a user key, this user's
// own files cannot be recognized either, which needs no warning. Runs mention the copy of another project's
// lock if they need it.
func warnOfNotices(events *events, notices []project.Notice, hasState bool) {
	for _, f := range notices {
		if text := noticeText(f, hasState); text != "" {
			events.warn(nil, text)
		}
	}
}

func noticeText(f project.Notice, hasState bool) string {
	switch {
	case f.Kind == project.Undone:
		return "an earlier run was killed while it changed this project; what it had changed was undone"
	case f.Kind == project.GivenUp:
		return "an earlier run was killed while it changed this project, and another program has installed modules since; the rest of that change was given up"
	case f.Kind == project.UnprovenJournal && hasState:
		return fmt.Sprintf("%s is from another directory or user, as after copying or moving a project; it was ignored", f.File)
	}
	return ""
}
