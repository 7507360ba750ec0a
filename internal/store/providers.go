package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/userkey"
)

// providerKind is the kind of the packages of providers. Their files are read-only, because Terraform
// writes through a project's link to the store if it considers a package wrong.
var providerKind = kind{
	dir:      "provider",
	packages: "package",
	records:  []string{fetchName, memoName, proofName, projectsName},
	steps:    "provider",
	isName:   func(name string) bool { return hashOf(name) != "" },
	readOnly: true,
}

// Providers are the packages of providers in a user's cache. It must be closed. It is safe for
// concurrent use.
type Providers struct {
	packages
	checked singleflight.Group[string, *ProviderPackage]
	// windows says that projects are in file systems with the rules of Windows.
	windows bool
}

// OpenProviders opens the packages of providers in the user's cache directory, and creates the
// directories if necessary. If they are not writable, they are used only for reading, and new
// packages are staged in scratch, a directory that is created when it is needed. The same is true
// if cacheDir is "".
func OpenProviders(cacheDir, scratch string, key *userkey.Key) *Providers {
	s := ViewProviders(cacheDir, key)
	s.scratch = scratch
	if s.dir != "" {
		_ = s.create() // the store is only read, then
	}
	return s
}

// ViewProviders opens the packages of providers in the user's cache directory for reading. It
// creates and changes nothing, even if there is no store. cacheDir may be "".
func ViewProviders(cacheDir string, key *userkey.Key) *Providers {
	s := &Providers{packages: packages{kind: providerKind, key: key}, windows: runtime.GOOS == "windows"}
	// The path must be absolute, because projects have links to it.
	if dir, err := filepath.Abs(cacheDir); err == nil && cacheDir != "" {
		s.dir = filepath.Join(dir, providerKind.dir)
	}
	return s
}

// Stage returns a new path in the staging directory. Nothing exists there yet.
func (s *Providers) Stage() (string, error) { return s.newPath() }

const archiveNotice = time.Second

// LockArchive waits until no other process downloads the archive with this hash, and then holds a
// lock on the archive until release is called. The wait ends early if ctx is done. LockArchive
// calls onWait once if it has waited for a second. If the store is not writable, there is no
// lock.
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

// ProviderPackage is an unpacked package in the store, on the stage, in a project, or in a
// directory of another program.
type ProviderPackage struct {
	H1       hashing.Hash
	dir      string
	location location
}

type location int

// The locations. The zero value is the one whose content is compared when the package is installed.
const (
	outside location = iota
	stored
	// shared packages are in the store too, but another user can change or replace them. Projects get
	// a copy, because a link would only be as good as that user when a stock tool follows it.
	shared
	// private packages are in a project, or on the stage. Another project gets a copy.
	private
)

// Dir returns the package's directory.
func (p *ProviderPackage) Dir() string { return p.dir }

// Outside returns the package in a directory of another program, such as a mirror of unpacked
// packages. It hashes the directory, which must not exceed the limits of packages.
func (s *Providers) Outside(ctx context.Context, dir string) (*ProviderPackage, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	h1, _, err := s.hashDir(ctx, dir, hashOptions{})
	if err != nil {
		return nil, err
	}
	return &ProviderPackage{H1: h1, dir: dir, location: outside}, nil
}

// Installed returns the package at a path in a project's directory of providers, or nil if there is
// none that stock tools could use. Its files are read only if one of them has changed since this
// user last hashed them; see [ProviderDir.Inspect].
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

// Find returns the stored package that has one of these hashes, or nil. It ignores hashes other
// than h1 and zh. The content of the returned package has been compared with its hash. If the
// only such package is damaged, the error wraps [ErrDamaged].
func (s *Providers) Find(ctx context.Context, hashes []hashing.Hash) (*ProviderPackage, error) {
	var damaged error
	for _, h := range hashes {
		h1 := h
		if h.Scheme() != "h1" {
			h1 = s.UnpacksTo(h)
		}
		if h1 == "" {
			continue
		}
		switch found, err := s.find(ctx, h1); {
		case err == nil:
			return found, nil
		case errors.Is(err, ErrDamaged):
			damaged = err
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return nil, damaged
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

// ownsPath reports whether only this user can replace the package in a directory of the store. The
// cache itself may be writable for the user's group.
func (s *Providers) ownsPath(dir string) bool {
	for at, others := range map[string]fs.FileMode{dir: 0o022, filepath.Dir(dir): 0o022, s.dir: 0o022, filepath.Dir(s.dir): 0o002} {
		info, err := os.Stat(at)
		if err != nil || !isOwn(info) || info.Mode()&others != 0 {
			return false
		}
	}
	return true
}

// Check reads and hashes all files of a package in the store. The error wraps [ErrDamaged] if the
// hash differs from the package's name.
func (s *Providers) Check(ctx context.Context, name string) error {
	_, err := s.checkContent(ctx, name, true)
	return err
}

// checkContent compares a package with its name, and moves the package to quarantine if they
// differ. If full is set, it reads all files, even if the package has a proof. private reports
// whether only this user can change the files.
func (s *Providers) checkContent(ctx context.Context, name string, full bool) (private bool, err error) {
	var h1 hashing.Hash
	var found listing
	err = s.check(name, func(dir string) (_ string, err error) {
		h1, found, err = s.hashDir(ctx, dir, hashOptions{full: full})
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
		s.proveWritten(s.path(name), h1)
	}
	return found.provable, err
}

// isPrivatelyWritable reports whether a package has writable files, and other users may write to none.
// Files of a package to which others may write stay as they are, so that no proof is recorded:
// another user may have mapped one into memory, and could still change it after a change of its mode.
func isPrivatelyWritable(files []fileState) bool {
	writable := func(mask fs.FileMode) bool {
		return slices.ContainsFunc(files, func(f fileState) bool { return f.Mode&mask != 0 })
	}
	return writable(0o222) && !writable(0o022)
}

// Publish makes a package of the tree at dir, a path from [Providers.Stage]. h1 must have been
// computed while the tree was written. The package becomes part of the store, or stays on the
// stage if the store is not writable. If the store has it already, and its content has its hash,
// Publish returns the stored package and removes the tree.
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
	s.proveWritten(s.path(name), h1)
	return s.storedPackage(h1, true), nil
}
