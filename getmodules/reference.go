package getmodules

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/gitcmd"
)

// Reference is what the address of a package leads to now.
type Reference struct {
	// Name says by which name: "tag v1.2.0", "branch main", "HEAD",
	// "commit 7c1f...", "digest sha256:...".
	Name string
	// Revision is the git commit, or the digest of an OCI manifest.
	Revision string
}

// Reference asks where the address of a package leads now, without fetching it.
// The zero Reference is for packages whose addresses lead to no revisions, such
// as archives. Of the request, Dir, Revision and Progress are not used. The
// error is a *[FetchError], over [ErrRefNotFound] if there is no such ref, over
// fs.ErrNotExist if there is no such OCI tag.
//
// An address that names a commit or a digest is taken at its word: nothing is
// asked.
func (f *Fetcher) Reference(ctx context.Context, req Request) (Reference, error) {
	var found Reference
	err := checkLocation(req)
	if err == nil {
		switch req.Package.Getter() {
		case "git":
			found, err = f.gitReference(ctx, req)
		case "oci":
			found, err = f.ociReference(ctx, req)
		}
	}
	if err != nil {
		return Reference{}, fetchError(req.Package.Redacted(), err)
	}
	return found, nil
}

func (f *Fetcher) ociReference(ctx context.Context, req Request) (Reference, error) {
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return Reference{}, err
	}
	if addr.digest != "" {
		return Reference{"digest " + addr.digest, addr.digest}, nil
	}
	repository := &OCIRepository{fetcher: f, remote: f.ociRepository(addr)}
	digest, err := repository.digest(ctx, addr.tag)
	return Reference{"tag " + addr.tag, digest}, err
}

func (f *Fetcher) gitReference(ctx context.Context, req Request) (Reference, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return Reference{}, err
	}
	if gitcmd.IsObjectID(addr.ref) {
		return Reference{"commit " + addr.ref, addr.ref}, nil
	}
	names, options := gitRefNames(addr.ref)
	commits, done, err := f.wireCommits(ctx, addr, names)
	if !done && err == nil {
		commits, err = f.listCommits(ctx, req, names, options)
	}
	if err != nil {
		return Reference{}, err
	}
	for _, name := range names {
		if commits[name] != "" {
			return Reference{describeRef(name), commits[name]}, nil
		}
	}
	return Reference{}, &RefNotFoundError{Ref: addr.ref}
}

// listCommits asks by git which commits refs lead to.
func (f *Fetcher) listCommits(ctx context.Context, req Request, names, options []string) (map[string]string, error) {
	var asked []string
	for _, name := range names {
		asked = append(asked, name, name+"^{}")
	}
	out, err := f.listRemote(ctx, req, options, asked...)
	if err != nil {
		return nil, err
	}
	commits := map[string]string{}
	for line := range bytes.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		// Behind an annotated tag comes what it leads to.
		if name = strings.TrimSuffix(name, "^{}"); gitcmd.IsObjectID(id) {
			commits[name] = id
		}
	}
	return commits, nil
}

// wireCommits is listCommits without git, by one request. That a server tells
// none of the refs is left to git to say.
func (f *Fetcher) wireCommits(ctx context.Context, addr gitAddress, names []string) (commits map[string]string, done bool, err error) {
	wire := f.gitWire(ctx, addr)
	if wire == nil {
		return nil, false, nil
	}
	refs, err := wire.client.Refs(ctx, wireRefs, names...)
	if ctx.Err() != nil {
		return nil, true, ctx.Err()
	}
	if err != nil {
		wire.failed(err)
		return nil, false, nil
	}
	commits = map[string]string{}
	for _, ref := range refs {
		commits[ref.Name] = cmp.Or(ref.Peeled, ref.ID)
	}
	return commits, slices.ContainsFunc(names, func(name string) bool { return commits[name] != "" }), nil
}

// gitRefNames are the full names that a ref of an address may mean, the best
// first, and the options with which git asks the server for little else.
func gitRefNames(ref string) (names, options []string) {
	switch {
	case ref == "":
		return []string{"HEAD"}, nil
	case strings.HasPrefix(ref, "refs/"):
		return []string{ref}, nil
	case strings.HasPrefix(ref, "tags/"), strings.HasPrefix(ref, "heads/"):
		return []string{"refs/tags/" + ref, "refs/heads/" + ref, "refs/" + ref}, []string{"--tags", "--heads"}
	}
	return []string{"refs/tags/" + ref, "refs/heads/" + ref}, []string{"--tags", "--heads"}
}

func describeRef(name string) string {
	if tag, ok := strings.CutPrefix(name, "refs/tags/"); ok {
		return "tag " + tag
	}
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return "branch " + branch
	}
	return name
}
