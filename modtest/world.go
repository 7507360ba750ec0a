package modtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// ErrNoGit is returned by [Start] if the tree has repositories and git is not installed.
var ErrNoGit = errors.New("modtest: git is not installed, and the tree has git repositories")

// World is a set of running servers. It is safe for concurrent use.
type World struct {
	fsys fs.FS
	opts Options
	host string // 127.0.0.1:PORT

	dir       string // private: repositories and the authority's certificate
	authority *authority
	transport *http.Transport
	servers   []*http.Server
	plainURL  string
	stop      context.CancelFunc // ends requests that wait

	registry  *registry
	providers *providerRegistry
	git       *gitServer
	archives  *archiveServer
	oci       *ociServer
	log       requestLog
	sent      atomic.Int64 // bytes
	faults    faults

	installers atomic.Int64 // the number of installers that were created

	serving sync.RWMutex // read locked by each request; Close waits for all
	closed  bool
}

// TB is the part of [testing.TB] that is needed. Programs that run a World, such as "cotter demo", do not
// link the package testing.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	TempDir() string
}

// New starts the servers that the tree describes, until the end of the test. It skips the test if git is
// needed and not installed.
func New(tb TB, fsys fs.FS) *World {
	tb.Helper()
	return NewWith(tb, fsys, Options{})
}

// NewWith is [New] with options.
func NewWith(tb TB, fsys fs.FS, opts Options) *World {
	tb.Helper()
	w, err := Start(fsys, opts)
	if errors.Is(err, ErrNoGit) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Errorf("modtest: close: %v", err)
		}
	})
	return w
}

// Start is [NewWith] outside of tests. The caller must call [World.Close]. An invalid tree is a
// [*TreeError]; a nil tree is empty.
func Start(fsys fs.FS, opts Options) (*World, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if fsys == nil {
		fsys = Txtar("")
	}
	dir, err := os.MkdirTemp("", "modtest-")
	if err != nil {
		return nil, fmt.Errorf("modtest: %w", err)
	}
	w := &World{fsys: fsys, opts: opts, dir: dir, stop: func() {}}
	if err := w.start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *World) start() error {
	var err error
	if w.authority, err = processAuthority(); err != nil {
		return fmt.Errorf("modtest: certificate: %w", err)
	}
	if err := os.WriteFile(w.certificateFile(), w.authority.pem, 0o600); err != nil {
		return fmt.Errorf("modtest: %w", err)
	}
	if err := os.Mkdir(w.emptyDir(), 0o700); err != nil {
		return fmt.Errorf("modtest: %w", err)
	}
	tlsListener, plainListener, err := w.listen()
	if err != nil {
		return fmt.Errorf("modtest: %w", err)
	}
	if err := w.load(); err != nil {
		return errors.Join(err, tlsListener.Close(), plainListener.Close())
	}
	w.faults.set(w.opts.startFaults(), w.host)
	w.transport = w.newTransport()
	w.serve(tlsListener, plainListener)
	return nil
}

// load creates the parts of the servers. It needs the host, which files may contain.
func (w *World) load() (err error) {
	if w.git, err = newGitServer(w.fsys, w.opts, w.host, filepath.Join(w.dir, "git")); err != nil {
		return err
	}
	if w.archives, err = newArchiveServer(w.fsys, w.opts, w.host); err != nil {
		return err
	}
	if w.registry, err = newRegistry(w.fsys, w.opts, w.host, w.git, w.archives); err != nil {
		return err
	}
	if w.providers, err = newProviderRegistry(w.fsys, w.opts, w.host, w.registry); err != nil {
		return err
	}
	if w.oci, err = newOCIServer(w.fsys, w.opts, w.host); err != nil {
		return err
	}
	return w.git.check()
}

func (w *World) certificateFile() string { return filepath.Join(w.dir, "authority.pem") }

// emptyDir is where git looks for further certificates.
func (w *World) emptyDir() string { return filepath.Join(w.dir, "certificates") }

// Close stops the servers, aborts open requests and removes the files. Further calls do nothing.
func (w *World) Close() error {
	if w.stop == nil {
		return nil // the zero World
	}
	w.stop()
	var errs []error
	for _, s := range w.servers {
		errs = append(errs, s.Close())
	}
	if w.transport != nil {
		w.transport.CloseIdleConnections()
	}
	w.serving.Lock()
	defer w.serving.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return errors.Join(append(errs, atomicfile.RemoveAll(w.dir))...)
}
