package getmodules

import (
	"context"
	"strings"

	"github.com/cotterpin/cotter/internal/gitcmd"
	"github.com/cotterpin/cotter/internal/gitref"
)

// Reference is what the address of a package currently resolves to.
type Reference struct {
	// Name describes the ref: "tag v1.2.0", "branch main", "HEAD",
	// "commit 7c1f...", "digest sha256:...".
	Name string
	// Revision is the git commit, or the digest of an OCI manifest.
	Revision string
}

// Reference resolves the address of a package without fetching the package. It
// returns the zero Reference if addresses of that kind have no revisions, such as
// archives. The fields Dir and Progress of the request are not used. The error is a
// *[FetchError]. It wraps [ErrRefNotFound] if there is no such ref, and
// fs.ErrNotExist if there is no such OCI tag.
//
// An address with a commit or a digest needs no request. An abbreviated commit that
// is not the name of a ref resolves to the request's Revision if it is a prefix of
// it. Otherwise the repository's commits are fetched to find it, without their files
// if the server supports that.
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
	if gitcmd.IsObjectID(addr.ref) {
		return Reference{"commit " + addr.ref, addr.ref}, nil
	}
	refs, done, err := f.wireReference(ctx, addr)
	if !done && err == nil {
		refs, err = f.listReference(ctx, req, addr.ref)
	}
	if err != nil {
		return Reference{}, err
	}
	chosen := refs.choose(addr.ref)
	if chosen.name == "" {
		return f.shortReference(ctx, req, addr)
	}
	return Reference{gitref.Describe(chosen.name), chosen.commit}, nil
}

// shortReference is the commit that an address abbreviates.
func (f *Fetcher) shortReference(ctx context.Context, req Request, addr gitAddress) (Reference, error) {
	short, id := strings.ToLower(addr.ref), req.Revision
	if !gitcmd.IsShortID(short) {
		return Reference{}, &RefNotFoundError{Ref: addr.ref}
	}
	if !gitcmd.IsObjectID(id) || !strings.HasPrefix(id, short) {
		var err error
		if id, err = f.expandRemote(ctx, req, addr); err != nil {
			return Reference{}, err
		}
	}
	if id == "" {
		return Reference{}, &RefNotFoundError{Ref: addr.ref}
	}
	return Reference{"commit " + id, id}, nil
}

// listReference lists the refs that a name may stand for by git, which has the
// server list all that it has.
func (f *Fetcher) listReference(ctx context.Context, req Request, name string) (remoteRefs, error) {
	var asked []string
	for _, candidate := range gitref.Candidates(name) {
		asked = append(asked, candidate, candidate+"^{}")
	}
	out, err := f.listRemote(ctx, req, nil, asked...)
	return listedRefs(out), err
}

// wireReference is listReference without git, by one request. That a server
// tells none of the refs is left to git to say.
func (f *Fetcher) wireReference(ctx context.Context, addr gitAddress) (refs remoteRefs, done bool, err error) {
	wire := f.gitWire(ctx, addr)
	if wire == nil {
		return nil, false, nil
	}
	refs, err = wire.refs(ctx, addr.ref)
	if ctx.Err() != nil {
		return nil, true, ctx.Err()
	}
	if err != nil {
		wire.failed(err)
		return nil, false, nil
	}
	return refs, refs.choose(addr.ref).name != "", nil
}
