package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// providerKind has read-only files, because Terraform writes through a project's link to the store if it
// considers a package wrong.
var providerKind = kind{
	dir:      "provider",
	packages: "package",
	records:  []string{fetchName, memoName, proofName, projectsName},
	steps:    "provider",
	isName:   func(name string) bool { return hashOf(name) != "" },
	readOnly: true,
}

// Providers are the packages of providers in a user's cache. It must be closed. It is safe for concurrent
// use.
type Providers struct {
	packages
	checked singleflight.Group[string, *ProviderPackage]
	// windows says that file systems have the rules of Windows.
	windows bool
}

// OpenProviders opens, and creates, the packages in the user's cache directory. If that is not writable, or
// "", they are only read, and new ones are staged in scratch, which is created when it is needed.
func OpenProviders(cacheDir, scratch string, key *userkey.Key) *Providers {
	s := ViewProviders(cacheDir, key)
	s.scratch = scratch
	if s.dir != "" {
		_ = s.create() // the store is only read, then
	}
	return s
}

// ViewProviders opens the packages for reading, and changes nothing. cacheDir may be "".
func ViewProviders(cacheDir string, key *userkey.Key) *Providers {
	s := &Providers{packages: packages{kind: providerKind, key: key}, windows: runtime.GOOS == "windows"}
	// The path must be absolute, because projects have links to it.
	if dir, err := filepath.Abs(cacheDir); err == nil && cacheDir != "" {
		s.dir = filepath.Join(dir, providerKind.dir)
	}
	return s
}

// Stage returns a new path in the staging directory.
func (s *Providers) Stage() (string, error) { return s.newPath() }

const archiveNotice = time.Second

// LockArchive waits until no other process downloads the archive with this hash, or ctx is done, and then
// locks it until release is called. It calls onWait once after a second. A store that is not writable has
// no lock.
func (s *Providers) LockArchive(ctx context.Context, zh hashing.Hash, onWait func()) (release func(), err error) {
	if !s.writable || zh == "" {
		return func() {}, nil
	}
	lock := s.fetchLock(providerName(zh))
	if err := lock.Exclusive(ctx, archiveNotice, onWait); ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), lock.Release())
	} else if err != nil {
		return func() {}, nil //nolint:nilerr // files cannot be locked here; at worst the archive is downloaded twice
	}
	return func() { _ = lock.Release() }, nil
}

func providerName(h hashing.Hash) string {
	_, value, _ := strings.Cut(string(h), ":")
	if raw, err := base64.StdEncoding.DecodeString(value); err == nil && h.Scheme() == "h1" {
		return hex.EncodeToString(raw)
	}
	return value
}

func hashOf(name string) hashing.Hash {
	raw, err := hex.DecodeString(name)
	if err != nil {
		return ""
	}
	h, err := hashing.ParseHash("h1:" + base64.StdEncoding.EncodeToString(raw))
	if err != nil || providerName(h) != name {
		return ""
	}
	return h
}

// ProviderPackage is an unpacked package in the store, on the stage, in a project, or of another program.
type ProviderPackage struct {
	H1       hashing.Hash
	dir      string
	location location
}

type location int

// The zero value is the location whose content is compared when the package is installed.
const (
	outside location = iota
	stored
	// shared packages are in the store, but another user can change them. Projects get a copy: a link would
	// be only as good as that user.
	shared
	// private packages are in a project, or on the stage. Another project gets a copy.
	private
)

func (p *ProviderPackage) Dir() string { return p.dir }

// Outside hashes a package of another program, such as a mirror, within the limits of packages. If runs is
// not "", it is the type of the provider whose program this machine must be able to run.
func (s *Providers) Outside(ctx context.Context, dir, runs string) (*ProviderPackage, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	h1, found, err := s.hashDir(ctx, dir, hashOptions{})
	if err == nil && runs != "" {
		err = executableFault(found.Files, runs)
	}
	if err != nil {
		return nil, err
	}
	return &ProviderPackage{H1: h1, dir: dir, location: outside}, nil
}

// Installed returns the package at a path in a project's directory of providers, or nil if stock tools
// could use none. Its files are read as by [ProviderDir.Inspect].
func (s *Providers) Installed(ctx context.Context, dir, at string) (*ProviderPackage, error) {
	d, err := s.ViewDir(dir)
	if err != nil {
		return nil, ctx.Err()
	}
	defer d.root.Close()
	state := d.Inspect(ctx, at, false)
	if state.Err != nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &ProviderPackage{H1: state.H1, dir: d.Path(at), location: private}, nil
}

// Find returns the stored package with an h1, or with the content of the archive with a zh, after comparing
// its content, or nil. If it is damaged, the error wraps [ErrDamaged].
func (s *Providers) Find(ctx context.Context, h hashing.Hash) (*ProviderPackage, error) {
	if h.Scheme() != "h1" {
		h = s.UnpacksTo(h)
	}
	if h == "" {
		return nil, nil
	}
	found, err := s.find(ctx, h)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

func (s *Providers) find(ctx context.Context, h1 hashing.Hash) (*ProviderPackage, error) {
	name := providerName(h1)
	return s.checked.Do(ctx, name, func(ctx context.Context) (*ProviderPackage, error) {
		private, err := s.checkContent(ctx, name, false)
		if err != nil {
			return nil, err
		}
		s.markUsed(name)
		return s.storedPackage(h1, private), nil
	})
}

func (s *Providers) storedPackage(h1 hashing.Hash, private bool) *ProviderPackage {
	pkg := &ProviderPackage{H1: h1, dir: s.path(providerName(h1)), location: stored}
	if !private || !s.ownsPath(pkg.dir) {
		pkg.location = shared
	}
	return pkg
}

// ownsPath reports whether only this user can replace a package. The cache itself may be writable for the
// user's group.
func (s *Providers) ownsPath(dir string) bool {
	for at, others := range map[string]fs.FileMode{dir: 0o022, filepath.Dir(dir): 0o022, s.dir: 0o022, filepath.Dir(s.dir): 0o002} {
		info, err := os.Stat(at)
		if err != nil || !isOwn(info) || info.Mode()&others != 0 {
			return false
		}
	}
	return true
}

// Check reads and hashes all files of a package. The error wraps [ErrDamaged] if its name is another hash.
func (s *Providers) Check(ctx context.Context, name string) error {
	_, err := s.checkContent(ctx, name, true)
	return err
}

// checkContent moves a package to quarantine if its name is another hash. full ignores a proof. private
// reports whether only this user can change the files.
func (s *Providers) checkContent(ctx context.Context, name string, full bool) (private bool, err error) {
	var h1 hashing.Hash
	var found listing
	err = s.check(name, func(dir string) (_ string, err error) {
		h1, found, err = s.hashDir(ctx, dir, hashOptions{full: full})
		if err == nil && s.writable && s.restoreExecutables(dir, found.Files) {
			h1, found, err = s.hashDir(ctx, dir, hashOptions{full: true})
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if _, ok := errors.AsType[*uncoveredError](err); ok {
			return "", nil // no name is that of such a directory
		}
		return providerName(h1), err
	})
	if err == nil && s.writable && isPrivatelyWritable(found.Files) {
		_ = makeReadOnly(s.path(name)) // this makes the proof invalid
		s.provePublished(name, h1)
	}
	return found.provable, err
}

// restoreExecutables replaces executables whose mode does not let them run, which stock tools could not use. A new file
// leaves one that another program has open as it is. It reports whether one was replaced. If that fails, the mode is
// the error of [ProviderDir.Inspect].
func (s *Providers) restoreExecutables(dir string, files []fileState) (restored bool) {
	for _, f := range files {
		if providerzip.IsExecutableOfAny(f.Path) && !canRun(f.Mode) {
			restored = s.copyExecutable(filepath.Join(dir, f.Path)) == nil || restored
		}
	}
	return restored
}

// copyExecutable replaces a file with an executable copy of it.
func (s *Providers) copyExecutable(name string) error {
	staged, err := s.newPath()
	if err != nil {
		return err
	}
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Chmod(0o555), to.Close()); err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	return atomicfile.Step(s.step("restore"), func() error { return os.Rename(staged, name) })
}

// isPrivatelyWritable reports whether a package has files that are writable for this user alone. Files that
// others can write to stay as they are, without a proof: another user may have mapped one into memory, and
// could change it even after a change of its mode.
func isPrivatelyWritable(files []fileState) bool {
	writable := func(mask fs.FileMode) bool {
		return slices.ContainsFunc(files, func(f fileState) bool { return f.Mode&mask != 0 })
	}
	return writable(0o222) && !writable(0o022)
}

// Publish makes a package of the tree at dir, a path from [Providers.Stage], with the h1 that was computed
// while it was written. The package stays on the stage if the store is not writable. If the store has it
// undamaged, Publish returns that, and removes the tree.
func (s *Providers) Publish(ctx context.Context, dir string, h1 hashing.Hash) (*ProviderPackage, error) {
	if !s.writable {
		return &ProviderPackage{H1: h1, dir: dir, location: private}, nil
	}
	name := providerName(h1)
	var found *ProviderPackage
	existed, err := s.publish(dir, name, func() bool {
		var err error
		found, err = s.find(ctx, h1)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	if existed {
		return found, nil
	}
	s.provePublished(name, h1)
	return s.storedPackage(h1, true), nil
}
