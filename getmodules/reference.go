package getmodules

import (
	"context"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
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
// as archives. Of the request, Dir and Progress are not used. The error is a
// *[FetchError], over [ErrRefNotFound] if there is no such ref, over
// fs.ErrNotExist if there is no such OCI tag.
//
// An address that names a commit or a digest is taken at its word: nothing is
// asked. An abbreviated commit that is no name of a ref is the request's Revision
// if it abbreviates that; otherwise the repository's commits are fetched, without
// their files where the server can leave these out, to find the one.
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
	digest, err := f.ociRepository(addr).digest(ctx, addr.tag)
	return Reference{"tag " + addr.tag, digest}, err
}

func (f *Fetcher) gitReference(ctx context.Context, req Request) (Reference, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return Reference{}, err
	}
	if git.IsObjectID(addr.ref) {
		return Reference{"commit " + addr.ref, addr.ref}, nil
	}
	found := func(refs git.Refs) bool { return refs.Choose(addr.ref).Name != "" }
	refs, err := f.gitRefs(ctx, req, addr, found, git.Candidates(addr.ref)...)
	if err != nil {
		return Reference{}, err
	}
	chosen := refs.Choose(addr.ref)
	if chosen.Name == "" {
		return f.shortReference(ctx, req, addr)
	}
	return Reference{git.Describe(chosen.Name), chosen.Commit}, nil
}

// shortReference is the commit that an address abbreviates.
func (f *Fetcher) shortReference(ctx context.Context, req Request, addr gitAddress) (Reference, error) {
	short, id := strings.ToLower(addr.ref), req.Revision
	if !git.IsShortID(short) {
		return Reference{}, &RefNotFoundError{Ref: addr.ref}
	}
	if !git.IsObjectID(id) || !strings.HasPrefix(id, short) {
		var err error
		if id, err = f.expandGit(ctx, req, addr, short); err != nil {
			return Reference{}, err
		}
	}
	if id == "" {
		return Reference{}, &RefNotFoundError{Ref: addr.ref}
	}
	return Reference{"commit " + id, id}, nil
}
