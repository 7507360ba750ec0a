package gitexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/procgroup"
)

// The oldest git that will do: the first with protocol version 2 as its
// default, without which a listing costs megabytes.
const (
	minMajor = 2
	minMinor = 26
)

// probeTimeout bounds the questions asked of an unknown program called git.
const probeTimeout = 10 * time.Second

// maxProbeOutput bounds their answers, which are one short line.
const maxProbeOutput = 4 << 10

// ErrNoGit says that no usable git is installed.
var ErrNoGit = errors.New("no usable git found")

// Git runs one git program. The zero value finds it in PATH. It is safe for
// concurrent use and must not be copied or changed after the first run.
type Git struct {
	// Path is the program, an absolute path. "" means the first "git" in the
	// absolute directories of PATH.
	Path string
	// Env is the environment to pass on, as in [os.Environ]. nil means the
	// process's own.
	Env []string
	// Interactive lets git and ssh ask the user for passwords on the terminal.
	Interactive bool

	once  sync.Once
	found program
	err   error

	httpOnce sync.Once
	http     *HTTPSettings
	httpErr  error
}

// program is what is known of a git once it was found.
type program struct {
	path string
	// config is the user's configuration, in the form of git config --list -z, or
	// configErr why it cannot be read.
	config    string
	configErr error
	// sshCommand is the user's core.sshCommand; "" means none.
	sshCommand string
}

// find locates git and asks its version, once.
func (g *Git) find(ctx context.Context) (program, error) {
	g.once.Do(func() {
		// The answer outlives this caller, so its cancellation must not be
		// remembered as a missing git.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		g.found, g.err = g.probe(ctx)
	})
	return g.found, g.err
}

func (g *Git) probe(ctx context.Context) (program, error) {
	path, err := g.lookPath()
	if err != nil {
		return program{}, err
	}
	p := program{path: path}
	if err := g.askVersion(ctx, p); err != nil {
		return program{}, err
	}
	// A directory that is no repository keeps git from looking for one around the
	// working directory, whose configuration does not count here.
	list := Command{Args: []string{"config", "--list", "-z"}, Repo: nullFile, Network: &Network{}}
	out, err := g.output(ctx, p, list, maxConfig)
	p.config, p.configErr = string(out), err
	// Our own ssh command would hide the user's, so it has to be known.
	for entry := range strings.SplitSeq(p.config, "\x00") {
		if name, value, _ := strings.Cut(entry, "\n"); name == "core.sshcommand" {
			p.sshCommand = strings.TrimSpace(value)
		}
	}
	return p, nil
}

// usable are the programs whose version will do, for all values of Git: a process
// that has many of them asks each program once.
var usable sync.Map // by installed

// installed is a program as it was when it was asked.
type installed struct {
	path    string
	size    int64
	changed time.Time
}

// askVersion returns an error if the program's version is too old.
func (g *Git) askVersion(ctx context.Context, p program) error {
	asked := installed{path: p.path}
	if info, err := os.Stat(p.path); err == nil {
		asked.size, asked.changed = info.Size(), info.ModTime()
	}
	if _, ok := usable.Load(asked); ok {
		return nil
	}
	out, err := g.output(ctx, p, Command{Args: []string{"version"}}, maxProbeOutput)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	if err := checkVersion(string(out)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoGit, p.path, err)
	}
	usable.Store(asked, nil)
	return nil
}

// lookPath finds git without ever looking into the current directory, which
// may belong to somebody else.
func (g *Git) lookPath() (string, error) {
	if g.Path != "" {
		if !filepath.IsAbs(g.Path) {
			return "", fmt.Errorf("%w: %q is not an absolute path", ErrNoGit, g.Path)
		}
		return g.Path, nil
	}
	if found := procgroup.Find(g.environ(), "git"); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("%w: none in PATH", ErrNoGit)
}

// Installed reports whether there is a git to run. Whether it is usable shows
// when it runs.
func (g *Git) Installed() bool {
	_, err := g.lookPath()
	return err == nil
}

func (g *Git) environ() []string {
	if g.Env != nil {
		return slices.Clone(g.Env)
	}
	return os.Environ()
}

// pattern compiles an expression when it is first used, which costs more than to
// start the rest of the package.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var versionLine = pattern(`^git version (\d{1,4})\.(\d{1,4})`)

func checkVersion(line string) error {
	m := versionLine().FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("unexpected answer %q to \"git version\"", line)
	}
	major, _ := strconv.Atoi(m[1]) // four digits at most, by the pattern
	minor, _ := strconv.Atoi(m[2])
	if major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("git %d.%d is too old, %d.%d or newer is needed", major, minor, minMajor, minMinor)
	}
	return nil
}
