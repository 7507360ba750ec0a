package getmodules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/gitcmd"
)

const (
	// maxTagListing bounds the list of a repository's tags, in bytes. A tag takes
	// about 70, an annotated one twice that.
	maxTagListing = 64 << 20
	// maxTags is several times the number in the largest repositories.
	maxTags = 200_000
)

// Tag is a tag of a repository and the revision that it currently points to.
type Tag struct {
	// Name is the tag's name; for git, without "refs/tags/".
	Name string
	// Revision is a git commit, or "" if the listing does not contain it.
	Revision string
}

// Tags lists the tags of the repository of req.Package, in no particular order. The
// fields Dir, Revision and Progress of the request and the address's own ref are
// not used. The error is a *[FetchError].
func (f *Fetcher) Tags(ctx context.Context, req Request) ([]Tag, error) {
	tags, err := f.tags(ctx, req)
	if err != nil {
		return nil, fetchError(req.Package.Redacted(), err)
	}
	return tags, nil
}

func (f *Fetcher) tags(ctx context.Context, req Request) ([]Tag, error) {
	if err := checkLocation(req); err != nil {
		return nil, err
	}
	if req.Package.Getter() != "git" {
		return nil, fmt.Errorf("%w: %q; only git repositories have tags to choose from", ErrUnsupportedScheme, req.Package.Getter())
	}
	return f.gitTags(ctx, req)
}

// gitTags requests only refs/tags/. With protocol version 2 the cost depends on the
// number of tags, not on the number of branches.
func (f *Fetcher) gitTags(ctx context.Context, req Request) ([]Tag, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return nil, err
	}
	g := &gitFetch{addr: addr, wire: f.gitWire(ctx, addr)}
	if tags, done, err := g.wireTags(ctx); done {
		return tags, err
	}
	out, err := f.listRemote(ctx, req, []string{"--tags"})
	if err != nil {
		return nil, err
	}
	return parseTags(out)
}

// listRemote runs git ls-remote with these options, for the refs of these full
// names, or for all.
func (f *Fetcher) listRemote(ctx context.Context, req Request, options []string, refs ...string) (_ []byte, err error) {
	g := &gitFetch{git: &f.Git, req: req, limits: f.Limits, floor: f.floor(gitIdle), again: f.again}
	if g.addr, err = parseGitAddress(req); err != nil {
		return nil, err
	}
	if f.builtInGit() {
		out, err := f.builtInList(ctx, g, refs)
		return out, explainBuiltIn(err)
	}
	scratch, err := req.privateDir()
	if err != nil {
		return nil, err
	}
	g.scratch = scratch
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := g.prepareNetwork(); err != nil {
		return nil, err
	}
	list := func() gitcmd.Command {
		return g.command(slices.Concat([]string{"ls-remote"}, options, []string{"--end-of-options", g.remote()}, refs)...)
	}
	var out []byte
	err = g.talk(ctx, list, func(c gitcmd.Command) (err error) {
		out, err = g.git.Output(ctx, c, maxTagListing)
		return err
	})
	if err != nil {
		return nil, g.explain(err)
	}
	return out, nil
}

// privateDir makes a directory for keys and credentials.
func (r Request) privateDir() (string, error) {
	dir, err := os.MkdirTemp(r.Scratch, ".git-tags-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// parseTags reads the output of git ls-remote. An annotated tag has two lines,
// of which the second, "^{}", names the commit.
func parseTags(out []byte) ([]Tag, error) {
	var tags []Tag
	for line := range bytes.Lines(out) {
		id, ref, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		name, isTag := strings.CutPrefix(ref, "refs/tags/")
		if !ok || !isTag || !gitcmd.IsObjectID(id) {
			continue // servers may list more than the requested refs/tags/
		}
		if peeled, annotated := strings.CutSuffix(name, "^{}"); annotated {
			if last := len(tags) - 1; last >= 0 && tags[last].Name == peeled {
				tags[last].Revision = id
			}
			continue
		}
		if len(tags) == maxTags {
			return nil, fmt.Errorf("%w: the repository has more than %d tags", ErrTooLarge, maxTags)
		}
		tags = append(tags, Tag{Name: name, Revision: id})
	}
	return tags, nil
}
