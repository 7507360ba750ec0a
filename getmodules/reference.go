package getmodules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// ReferenceKind says what a name in an address refers to.
type ReferenceKind string

// The kinds of references.
const (
	ReferenceHead   ReferenceKind = "HEAD"
	ReferenceBranch ReferenceKind = "branch"
	ReferenceTag    ReferenceKind = "tag"
	// ReferenceOther is any other ref of git.
	ReferenceOther ReferenceKind = "ref"
	// ReferenceCommit is a git commit, whole or abbreviated.
	ReferenceCommit ReferenceKind = "commit"
	ReferenceDigest ReferenceKind = "digest"
)

// Reference is the revision that the address of a package currently resolves to.
type Reference struct {
	Kind ReferenceKind
	// Name is a tag or branch without its namespace, the full name of another ref ("refs/pull/1/head"),
	// "HEAD", the full name of a commit, or a digest.
	Name     string
	Revision string
}

// String returns the name, with its kind unless the name shows it: "tag v1.2.0", "branch main", "commit
// 7c1f...", "digest sha256:...", "HEAD", "refs/pull/1/head".
func (r Reference) String() string {
	switch r.Kind {
	case "", ReferenceHead, ReferenceOther:
		return r.Name
	}
	return string(r.Kind) + " " + r.Name
}

// Reference resolves the address of a package without fetching it; the zero Reference is for kinds without
// revisions, such as archives. It ignores Dir and Progress of the request. The error is a *[FetchError],
// which wraps [ErrRefNotFound] if the ref does not exist, and fs.ErrNotExist for an OCI tag.
//
// An address with a commit or a digest needs no request. An abbreviated commit that is not the name of a
// ref is the request's Revision if that begins with it. Otherwise all commits are fetched to find it, if
// possible without files.
func (f *Fetcher) Reference(ctx context.Context, req Request) (Reference, error) {
	var found Reference
	err := checkLocation(ctx, req)
	if err == nil {
		ctx := limited(ctx, req)
		switch req.Package.Getter() {
		case "git":
			found, err = f.gitReference(ctx, req)
		case "oci":
			found, err = f.ociReference(ctx, req)
		}
	}
	if err != nil {
		return Reference{}, fetchError(req.Package.Redacted(), ctxerr.With(ctx, err))
	}
	return found, nil
}

func (f *Fetcher) ociReference(ctx context.Context, req Request) (Reference, error) {
	addr, err := parseOCIAddress(req.Package)
	if err != nil {
		return Reference{}, err
	}
	if addr.digest != "" {
		return Reference{ReferenceDigest, addr.digest, addr.digest}, nil
	}
	repository, err := f.openOCI(ctx, addr)
	if err != nil {
		return Reference{}, err
	}
	found, err := oci.Resolve(ctx, repository, addr.tag)
	return Reference{ReferenceTag, addr.tag, found.Digest.String()}, err
}

func (f *Fetcher) gitReference(ctx context.Context, req Request) (Reference, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return Reference{}, err
	}
	if git.IsObjectID(addr.ref) {
		return Reference{ReferenceCommit, addr.ref, addr.ref}, nil
	}
	found := func(refs git.Refs) bool { return refs.Choose(addr.ref).Name != "" }
	refs, err := f.gitRefs(ctx, req, addr, found, git.Candidates(addr.ref)...)
	if err != nil {
		return Reference{}, addr.explain(err)
	}
	chosen := refs.Choose(addr.ref)
	if chosen.Name == "" {
		return f.shortReference(ctx, req, addr)
	}
	return Reference{kindOfRef(chosen.Name), git.Short(chosen.Name), chosen.Commit}, nil
}

func (f *Fetcher) shortReference(ctx context.Context, req Request, addr gitAddress) (Reference, error) {
	short, id := strings.ToLower(addr.ref), req.Revision
	if !git.IsShortID(short) {
		return Reference{}, &RefNotFoundError{Repository: addr.shownTarget(), Ref: addr.ref, Err: ErrRefNotFound}
	}
	if !git.IsObjectID(id) || !strings.HasPrefix(id, short) {
		var err error
		if id, err = f.expandGit(ctx, req, addr, short); err != nil {
			return Reference{}, err
		}
	}
	if id == "" {
		return Reference{}, &RefNotFoundError{Repository: addr.shownTarget(), Ref: addr.ref, Err: ErrRefNotFound}
	}
	return Reference{ReferenceCommit, id, id}, nil
}

func kindOfRef(full string) ReferenceKind {
	switch {
	case full == git.Head:
		return ReferenceHead
	case strings.HasPrefix(full, git.Tags):
		return ReferenceTag
	case strings.HasPrefix(full, git.Heads):
		return ReferenceBranch
	}
	return ReferenceOther
}

// maxTags is several times the number in the largest repositories.
const maxTags = 200_000

// Tag is a tag of a repository and the revision that it currently points to, or a version of another kind of source.
type Tag struct {
	// Name is without "refs/tags/".
	Name string
	// Revision is a git commit, or what a [Getter] calls a revision; "" if the listing does not contain it.
	Revision string
}

// Tags returns the tags of the git repository of req.Package, or the versions that a [Getter] lists for it, sorted by
// name. It ignores Dir, Revision and Progress of the request, and the ref in the address. The error is a *[FetchError].
func (f *Fetcher) Tags(ctx context.Context, req Request) ([]Tag, error) {
	tags, err := f.tags(ctx, req)
	if err != nil {
		return nil, fetchError(req.Package.Redacted(), ctxerr.With(ctx, err))
	}
	return tags, nil
}

func (f *Fetcher) tags(ctx context.Context, req Request) ([]Tag, error) {
	if err := checkLocation(ctx, req); err != nil {
		return nil, err
	}
	ctx = limited(ctx, req)
	kind := req.Package.Getter()
	if kind == "git" {
		return f.gitTags(ctx, req)
	}
	if _, err := f.getterFor(req.Package); err != nil {
		return nil, err
	}
	if _, builtIn := getters()[kind]; builtIn {
		return nil, fmt.Errorf("%w: %q; only git repositories have tags to choose from", ErrUnsupportedScheme, kind)
	}
	return f.listDownload(ctx, req, f.Getters[kind])
}

// gitTags lists only refs/tags/. With version 2 of the protocol, branches then cost nothing.
func (f *Fetcher) gitTags(ctx context.Context, req Request) ([]Tag, error) {
	addr, err := parseGitAddress(req)
	if err != nil {
		return nil, err
	}
	refs, err := f.gitRefs(ctx, req, addr, func(refs git.Refs) bool { return len(refs) > 0 }, git.Tags)
	if err != nil {
		return nil, addr.explain(err)
	}
	if len(refs) > maxTags {
		return nil, fmt.Errorf("%w: the repository has more than %d tags", ErrTooLarge, maxTags)
	}
	var tags []Tag
	for _, full := range slices.Sorted(maps.Keys(refs)) {
		if name, ok := strings.CutPrefix(full, git.Tags); ok {
			tags = append(tags, Tag{Name: name, Revision: refs[full].Commit})
		}
	}
	return tags, nil
}
