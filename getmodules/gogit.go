package getmodules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// GitBackend chooses between the git that is installed and a built-in client.
type GitBackend string

const (
	// GitAuto is the installed git for what is not fetched without git, and the
	// built-in client where PATH has none.
	GitAuto GitBackend = ""
	// GitInstalled is the installed git for everything, as with
	// [Fetcher].AlwaysGit, or a failure.
	GitInstalled GitBackend = "git"
	// GitBuiltIn is the client in this process for everything. It needs no
	// program, and knows nothing of the user's configuration: see the package
	// comment.
	GitBuiltIn GitBackend = "go"
)

// builtInGit reports whether the built-in client is the one to use.
func (f *Fetcher) builtInGit() bool {
	switch f.GitBackend {
	case GitBuiltIn:
		return true
	case GitAuto:
		return !f.AlwaysGit && !f.Git.Installed()
	}
	return false
}

// warnBuiltIn is what the user should know, once: it is the same for all
// packages.
func (f *Fetcher) warnBuiltIn() []string {
	if !f.warnedBuiltIn.CompareAndSwap(false, true) {
		return nil
	}
	why := "git is not installed: "
	if f.GitBackend == GitBuiltIn {
		why = ""
	}
	return []string{why + "using the built-in git client, which does not read your configuration of git and ssh " +
		"(credential helpers, url.insteadOf, http.extraHeader, ssh hosts)"}
}

// builtInFetch is a fetch by the built-in client.
type builtInFetch struct {
	*gitFetch
	repo inprocess.Repository
}

// fetchWithoutGit does what run does where there is no git.
func (f *Fetcher) fetchWithoutGit(ctx context.Context, g *gitFetch) error {
	if done, err := g.runWire(ctx); done {
		return err
	}
	return explainBuiltIn(f.fetchBuiltIn(ctx, g))
}

// fetchBuiltIn fetches and writes one commit by the built-in client.
func (f *Fetcher) fetchBuiltIn(ctx context.Context, g *gitFetch) (err error) {
	b, err := f.openBuiltIn(g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.repo.Close()) }()
	objects, id, err := b.bring(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	batch := objects.Start(ctx)
	reader := newGitObjects(batch, batch.Stdin, batch.Stdout)
	defer reader.close()
	if err := g.write(reader, id); err != nil {
		return err
	}
	g.pkg.Bytes = b.repo.Received()
	g.pkg.FetchWarnings = f.warnBuiltIn()
	return nil
}

// openBuiltIn finds the repository and how to talk to it.
func (f *Fetcher) openBuiltIn(g *gitFetch) (*builtInFetch, error) {
	u := &g.addr.remote
	if allowed := f.Git.Allowed(g.addr.protocols); !slices.Contains(allowed, u.Scheme) {
		return nil, fmt.Errorf("%w: the transport %q is not in your GIT_ALLOW_PROTOCOL", ErrRefusedLocation, u.Scheme)
	}
	if len(g.wanted()) == git.SHA256Len {
		return nil, &inprocess.Error{Kind: inprocess.Unsupported, Message: "the commit is named by SHA-256"}
	}
	if u.Scheme == "file" {
		path, err := localPath(u)
		if err != nil {
			return nil, err
		}
		local, err := inprocess.OpenLocal(path)
		return &builtInFetch{g, local}, err
	}
	remote := &inprocess.Remote{
		Transport: f.builtInTransport(g),
		Dir:       g.scratch,
		Limits:    inprocess.Limits{PackBytes: g.limits.download(), ObjectBytes: max(g.limits.FileBytes, maxGitObject)},
	}
	if report := g.req.Progress; report != nil {
		remote.Progress = func(done int64) { report(done, 0) }
	}
	return &builtInFetch{g, remote}, nil
}

// maxGitObject bounds objects that are read into memory, whether they are files
// of the package or others that a server sends along.
const maxGitObject = 256 << 20

func (f *Fetcher) builtInTransport(g *gitFetch) inprocess.Transport {
	u := &g.addr.remote
	switch u.Scheme {
	case "ssh":
		home := f.Git.Getenv("HOME")
		if home == "" {
			home = f.Git.Getenv("USERPROFILE") // Windows
		}
		login := inprocess.SSH{Home: home, AgentSocket: f.Git.Getenv("SSH_AUTH_SOCK"), Key: g.addr.sshKey}
		stream := login.Transport(u)
		stream.MinRate = g.limits.MinRate
		return stream
	case "git":
		stream := inprocess.Daemon(u)
		stream.MinRate = g.limits.MinRate
		return stream
	}
	return &gitHTTP{fetcher: f, base: u, user: g.addr.user}
}

// builtInList is listRemote by the built-in client: the refs of these full
// names, or all, in the form of git ls-remote.
func (f *Fetcher) builtInList(ctx context.Context, g *gitFetch, refs []string) (_ []byte, err error) {
	b, err := f.openBuiltIn(g)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.repo.Close()) }()
	list, err := b.repo.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []byte
	add := func(id, name string) {
		if id != "" && (len(refs) == 0 || slices.Contains(refs, name)) {
			out = fmt.Appendf(out, "%s\t%s\n", id, name)
		}
	}
	add(list.Head, "HEAD")
	for _, ref := range list.Refs {
		add(ref.ID, ref.Name)
		if ref.Commit != ref.ID {
			add(ref.Commit, ref.Name+"^{}")
		}
	}
	return out, nil
}
