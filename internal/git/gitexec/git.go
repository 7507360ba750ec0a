package gitexec

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

// The oldest supported version of git. It is the first that uses protocol version 2 by default;
// without that, a listing of refs costs megabytes.
const (
	minMajor = 2
	minMinor = 26
)

// probeTimeout bounds the time of commands that ask an unknown git.
const probeTimeout = 10 * time.Second

// maxProbeOutput bounds one short line of output, in bytes.
const maxProbeOutput = 4 << 10

var ErrNoGit = errors.New("no usable git found")

// Git runs one git program. The zero value finds git in PATH. It is safe for concurrent use.
// After the first run it must not be copied or changed.
type Git struct {
	// Path is absolute. "" means the first "git" in the absolute directories of PATH.
	Path   string
	Absent bool
	// Env is as in [os.Environ]; nil means the environment of the process.
	Env []string
	// Interactive allows prompts on the terminal.
	Interactive bool
	// HTTP sends requests without git; nil means http.DefaultTransport. A copy of it gets the proxies and
	// certificates of the user's configuration, unless OwnConnections is set.
	HTTP           http.RoundTripper
	OwnConnections bool
	// Netrc finds credentials for the server of a URL in the user's netrc file; nil has none.
	Netrc func(context.Context, *url.URL) (*url.Userinfo, error)

	once  sync.Once
	found program
	err   error

	versionOnce sync.Once
	version     string // without the prefix "git version"
	versionErr  error

	// moved has URLs after redirects, for the projects whose policies allow the same URLs.
	moved sync.Map // from httpx.Shared[string], the URL before them, to *url.URL

	sshConfigs singleflight.Group[sshIdentity, sshConfig]
	sshLinks   sshLinks

	// configured are the programs with the configuration for one repository, and settings what they say.
	configured, settings sync.Map // from the remote to a function

	transports  sync.Map // from Connection to a function that returns its transport
	credentials credentials
}

type program struct {
	path string
	// config is the user's configuration. configErr is set if it cannot be read.
	config                 []setting
	configErr              error
	sshCommand, sshVariant string
	// remote is the address of the repository that the configuration is for; "" if it is the same for all.
	remote string
}

// hasConfig begins the conditions of includeIf that depend on the address of a repository.
const hasConfig = "hasconfig:remote.*.url:"

// find does not ask for the version, which takes another process: most runs need git for its configuration alone.
func (g *Git) find(ctx context.Context) (program, error) {
	g.once.Do(func() {
		// Later callers use the result, so the end of this context must not count as a missing git.
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
	p := g.readConfig(ctx, program{path: path})
	if p.configErr != nil { // of the configuration, or of a program that is no git
		if _, err := g.versionOf(ctx, p); err != nil {
			return program{}, err
		}
	}
	return p, nil
}

// findToRun returns the program for a command, or an error if it is too old to be run for more than its configuration.
// That is read, by another process, only for commands that may send requests: how they do is all that we need of it.
func (g *Git) findToRun(ctx context.Context, c Command) (found program, err error) {
	if c.Network == nil || c.WorkTree != "" {
		found.path, err = g.lookPath()
	} else {
		found, err = g.findFor(ctx, c.Network.Remote)
	}
	if err == nil {
		_, err = g.versionOf(ctx, found)
	}
	return found, err
}

// versions has the versions of the programs that this process has asked, which many a Git may run, by their [programFile].
var versions sync.Map

// programFile is one program in one state: another one may be installed in its place while this process runs.
type programFile struct {
	path     string
	modified time.Time
	size     int64
}

// versionOf asks the program once. The error wraps ErrNoGit if it is no git, or too old.
func (g *Git) versionOf(ctx context.Context, p program) (string, error) {
	g.versionOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		file := programFile{path: p.path}
		if info, err := os.Stat(p.path); err == nil {
			file.modified, file.size = info.ModTime(), info.Size()
		}
		if known, ok := versions.Load(file); ok {
			g.version = known.(string)
			return
		}
		if g.version, g.versionErr = g.askVersion(ctx, p); g.versionErr == nil {
			versions.Store(file, g.version)
		}
	})
	return g.version, g.versionErr
}

// findFor is find with the user's configuration for the repository at a remote: its files may be included only for
// some addresses.
func (g *Git) findFor(ctx context.Context, remote string) (program, error) {
	found, err := g.find(ctx)
	isConditional := func(s setting) bool { return s.section == "includeif" && strings.HasPrefix(s.sub, hasConfig) }
	if err != nil || remote == "" || !slices.ContainsFunc(found.config, isConditional) {
		return found, err
	}
	found.remote = remote
	read, _ := g.configured.LoadOrStore(remote, sync.OnceValue(func() program {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		return g.readConfig(ctx, found)
	}))
	return read.(func() program)(), nil
}

func (g *Git) readConfig(ctx context.Context, p program) program {
	list := Command{Args: []string{"config", "--list", "-z"}, Network: &Network{}}
	out, err := g.output(ctx, p, list, maxConfig)
	p.config, p.configErr = parseSettings(string(out)), err
	// GIT_SSH_COMMAND hides the user's core.sshCommand, so its value is needed.
	for _, s := range p.config {
		switch {
		case s.section == "core" && s.sub == "" && s.key == "sshcommand":
			p.sshCommand = strings.TrimSpace(s.value)
		case s.section == "ssh" && s.sub == "" && s.key == "variant":
			p.sshVariant = s.value
		}
	}
	return p
}

func (g *Git) askVersion(ctx context.Context, p program) (string, error) {
	out, err := g.output(ctx, p, Command{Args: []string{"version"}}, maxProbeOutput)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	var major, minor int
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "git version ")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); !ok || err != nil {
		return "", fmt.Errorf("%w: %s: unexpected answer %q to \"git version\"", ErrNoGit, p.path, out)
	}
	if major < minMajor || major == minMajor && minor < minMinor {
		return "", fmt.Errorf("%w: %s: git %d.%d is too old, %d.%d or newer is needed", ErrNoGit, p.path, major, minor, minMajor, minMinor)
	}
	return version, nil
}

// lookPath never looks in the current directory, which may belong to another user.
func (g *Git) lookPath() (string, error) {
	if g.Absent {
		return "", fmt.Errorf("%w: it is not to be used", ErrNoGit)
	}
	if g.Path != "" {
		if !filepath.IsAbs(g.Path) {
			return "", fmt.Errorf("%w: %q is not an absolute path", ErrNoGit, g.Path)
		}
		return g.Path, nil
	}
	if found := procgroup.Find(g.Environ(), "git"); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("%w: none in PATH", ErrNoGit)
}

// Installed reports whether a git program exists, which need not be usable.
func (g *Git) Installed() bool {
	_, err := g.lookPath()
	return err == nil
}

// Environ returns Env, or the environment of the process.
func (g *Git) Environ() []string {
	if g.Env != nil {
		return slices.Clone(g.Env)
	}
	return os.Environ()
}

type Installation struct {
	// Version has no prefix "git version".
	Path, Version string
	// Settings are those that affect requests to servers, in git's order.
	Settings []Setting
}

type Setting struct {
	// Name is in lower case, except for its subsection, as in url.https://a/.insteadof.
	Name string
	// Value is "" if it may contain a secret.
	Value string
}

func (s Setting) TurnsOffVerification() bool {
	off := s.Value != "" && !gitdir.IsTrue(s.Value)
	return off && strings.HasPrefix(s.Name, "http.") && strings.HasSuffix(s.Name, ".sslverify")
}

// Inspect returns the version and the configuration of the program. The error wraps ErrNoGit if
// there is no usable git. If the configuration cannot be read, Inspect returns the rest
// together with the error.
func (g *Git) Inspect(ctx context.Context) (Installation, error) {
	found, err := g.find(ctx)
	if err != nil {
		return Installation{}, err
	}
	version, err := g.versionOf(ctx, found)
	if err != nil {
		return Installation{}, err
	}
	i := Installation{Path: found.path, Version: version}
	for _, s := range found.config {
		if s, ok := reported(s); ok {
			i.Settings = append(i.Settings, s)
		}
	}
	return i, found.configErr
}

// shown are the keys of the section http whose values contain no secrets.
var shown = [...]string{"followredirects", "sslbackend", "sslcainfo", "sslcapath", "sslverify", "version"}

func reported(s setting) (Setting, bool) {
	section, key, value := s.section, s.key, s.value
	plainName := section + "." + key
	if s.sub != "" {
		plainName = section + "." + addrs.Redact(s.sub) + "." + key
	}
	switch {
	case section == "url" && key == "insteadof":
		return Setting{plainName, addrs.Redact(value)}, true
	case section == "http" && slices.Contains(shown[:], key):
		return Setting{plainName, value}, true
	case section == "http" && key == "proxy", section == "credential" && key == "helper":
		return Setting{plainName, helperName(addrs.Redact(value))}, true
	case section == "http" && !slices.Contains(harmless[:], key):
		return Setting{Name: plainName}, true
	case plainName == "core.sshcommand", plainName == "core.gitproxy":
		return Setting{Name: plainName}, true
	}
	return Setting{}, false
}

// helperName returns the first word of a helper: its arguments may have a token.
func helperName(value string) string {
	if strings.HasPrefix(value, "!") {
		return "a shell command"
	}
	word, _, _ := strings.Cut(value, " ")
	return word
}
