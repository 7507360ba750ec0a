package getmodules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// fetchShort finds the commit of an abbreviated name and fetches it. Only a
// list of all commits can tell, so it fetches that into a store of its own,
// without files where the server can leave them out. notFound is the error if
// there is no such commit.
func (g *gitFetch) fetchShort(ctx context.Context, notFound error) (string, error) {
	id, err := g.expand(ctx, strings.ToLower(g.addr.ref))
	if err != nil {
		return "", err
	}
	if id == "" {
		return "", notFound
	}
	return id, g.fetchCommit(ctx, id)
}

// expand returns the only commit whose name begins with short, or "".
func (g *gitFetch) expand(ctx context.Context, short string) (string, error) {
	history := *g
	history.store = gitStore{dir: filepath.Join(g.scratch, "history")}
	if err := history.store.reinit(g.store.format); err != nil {
		return "", err
	}
	if err := history.fetchAll(ctx, gitOnlyCommits); err != nil {
		return "", err
	}
	objects, err := openGitObjects(ctx, g.git, history.store.dir)
	if err != nil {
		return "", err
	}
	defer objects.close()
	return objects.expand(short)
}

// expandRemote returns the only commit of a repository that the address's ref
// abbreviates, or "".
func (f *Fetcher) expandRemote(ctx context.Context, req Request, addr gitAddress) (id string, err error) {
	g := &gitFetch{git: &f.Git, req: req, limits: f.Limits, floor: f.floor(gitIdle), again: f.again, addr: addr}
	if g.scratch, err = req.privateDir(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.scratch)) }()
	short := strings.ToLower(addr.ref)
	if f.builtInGit() {
		id, err = f.expandBuiltIn(ctx, g, short)
		return id, explainBuiltIn(err)
	}
	if err := g.prepareNetwork(); err != nil {
		return "", err
	}
	g.store.format = "sha1"
	id, err = g.expand(ctx, short)
	if gitSays(err, gitOtherFormat) {
		g.store.format = g.store.otherFormat()
		id, err = g.expand(ctx, short)
	}
	if err != nil {
		return "", g.explain(err)
	}
	return id, nil
}

// expand returns the full name of the commit that short abbreviates; "" if
// there is none.
func (o *gitObjects) expand(short string) (string, error) {
	o.ask(short + "^{commit}")
	answer, err := o.answer()
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(answer, " ambiguous"):
		return "", fmt.Errorf("%q is ambiguous: several commits begin so; write more of its digits", short)
	case strings.HasSuffix(answer, " missing"):
		return "", nil
	}
	id, _, _ := strings.Cut(answer, " ")
	if !git.IsObjectID(id) || !strings.HasPrefix(id, short) {
		return "", fmt.Errorf("%w: unexpected answer %q", errStoreBroken, answer)
	}
	return id, nil
}
