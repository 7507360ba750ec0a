package hg

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Getter fetches from Mercurial repositories.
type Getter struct {
	// Path is absolute. "" means the first "hg" in the absolute directories of PATH.
	Path string
	// Env is the environment of hg, as in [os.Environ]; nil means that of the process.
	Env []string
}

var _ getmodules.Getter = Getter{}

// Get implements [getmodules.Getter]. Errors wrap [ErrNoHg], are an [*Error], or say what is wrong with the
// address.
func (g Getter) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if from.Archive {
		return getmodules.Downloaded{}, errors.New("a Mercurial repository is not an archive; remove the argument archive, or the suffix of an archive")
	}
	addr, err := parseAddress(from.Location.URL())
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	if from.Revision != "" && !isChangeset(from.Revision) {
		return getmodules.Downloaded{}, errors.New("the revision of a Mercurial package has 40 lower-case hexadecimal digits")
	}
	if _, err := httpx.CheckResolved(ctx, from.Location.URL(), from.Location.URL().Hostname()); err != nil {
		return getmodules.Downloaded{}, err
	}
	program, err := g.find()
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	r := repository{
		program: program,
		env:     g.environ(),
		parent:  filepath.Dir(from.Path),
		addr:    addr,
	}
	id, err := r.get(ctx, from.Revision, filepath.Base(from.Path))
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	return getmodules.Downloaded{Revision: id, Resolved: addr.resolved(id)}, nil
}

// repository is a private repository for pulled changesets. hg runs in its directory and gets only relative
// paths, because "#" and "%" have a meaning for hg in paths.
type repository struct {
	program string
	env     []string
	parent  string
	addr    address
}

const (
	repositoryName = "repository"
	remoteName     = "cotter"
)

func (r *repository) dir() string { return filepath.Join(r.parent, repositoryName) }

// get writes the files of a changeset next to the repository, and returns its id.
func (r *repository) get(ctx context.Context, id, name string) (string, error) {
	if err := r.create(); err != nil {
		return "", err
	}
	if id == "" {
		var err error
		if id, err = r.resolve(ctx); err != nil {
			return "", err
		}
	}
	if _, err := r.onNetwork(ctx, "pull", "--quiet", "--rev="+id, remoteName); err != nil {
		return "", err
	}
	_, err := r.reading(ctx, "archive", "--no-decode", "--type=files", "--rev="+id, "--", "../"+name)
	if e := (*Error)(nil); errors.As(err, &e) && sanitize.Contains(e.Stderr, "no files match") {
		return "", getmodules.ErrEmpty
	}
	return id, err
}

// requirements is the oldest format that all versions of hg since 1.9 create by default.
const requirements = "dotencode\nfncache\ngeneraldelta\nrevlogv1\nstore\n"

// create writes the files that "hg init" would write, because each start of hg takes about a tenth of a
// second, and a configuration with the remote's URL and credentials.
func (r *repository) create() error {
	dir := filepath.Join(r.dir(), ".hg")
	if err := os.MkdirAll(filepath.Join(dir, "store"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "requires"), []byte(requirements), 0o600); err != nil {
		return err
	}
	text := "[paths]\n" + remoteName + " = " + r.addr.remote.String() + "\n"
	return os.WriteFile(filepath.Join(dir, "hgrc"), []byte(text), 0o600)
}

// resolve asks the server for the changeset of the revision in the address.
func (r *repository) resolve(ctx context.Context) (string, error) {
	rev := r.addr.rev
	if rev == "" {
		rev = "default"
	}
	out, err := r.identify(ctx, rev)
	if e := (*Error)(nil); r.addr.rev == "" && errors.As(err, &e) && sanitize.Contains(e.Stderr, "unknown revision") {
		out, err = r.identify(ctx, "tip") // the repository has no branch "default"
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out)
	switch {
	case !isChangeset(id):
		return "", errors.New("hg did not report which changeset it found")
	case strings.Trim(id, "0") == "":
		return "", getmodules.ErrEmpty
	}
	return id, nil
}

func (r *repository) identify(ctx context.Context, rev string) (string, error) {
	return r.onNetwork(ctx, "identify", "--template={node}", "--rev="+rev, remoteName)
}

func (a address) resolved(id string) addrs.ModulePackage {
	u := a.remote
	u.RawQuery = url.Values{"rev": {id}}.Encode()
	if a.remote.RawQuery != "" {
		u.RawQuery = a.remote.RawQuery + "&" + u.RawQuery
	}
	return addrs.ParseModulePackage("hg::" + u.String())
}
