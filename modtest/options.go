package modtest

import (
	"errors"
	"net/http"
	"time"
)

// Options say how the servers of a [World] behave. The zero value is a registry that
// every known client understands, and that points to commits of a git server.
type Options struct {
	// Archives makes the registry point to .tar.gz archives, by locations that
	// are relative URLs, and not to git.
	Archives bool

	// Hosted makes the registry offer .tar.gz archives as packages of its own
	// ("use_registry_credentials": true), which OpenTofu 1.12 and later
	// understands. It excludes Archives and HeaderLocations.
	Hosted bool

	// HeaderLocations makes the registry answer 204 with nothing but the
	// X-Terraform-Get header, as older registries do. By default it answers 200
	// with the location in that header and in the body.
	HeaderLocations bool

	// Token is what the registry demands as "Authorization: Bearer TOKEN", also
	// for Hosted packages, but not for discovery, git, archives and files.
	// Empty means no authentication.
	Token string

	// NoProviders removes the provider registry from the discovery document.
	NoProviders bool

	// ProviderReported makes the provider registry report the hashes of the packages
	// of all platforms ("packages"), as OpenTofu's does.
	ProviderReported bool

	// ProviderProtocols are the versions of the plugin protocol that all packages of
	// providers have. nil means "5.0".
	ProviderProtocols []string

	// ProviderWarnings are the warnings in listings of providers.
	ProviderWarnings []string

	// ProviderMoved says to which address, "NAMESPACE/TYPE", a provider has moved
	// whose type is asked for without a namespace ("-/TYPE").
	ProviderMoved map[string]string

	// ArchiveUser and ArchivePassword are what the archive server demands by
	// basic authentication. An empty user means no authentication.
	ArchiveUser, ArchivePassword string

	// RefuseCommits makes the git server behave like an old one, which only speaks
	// protocol version 0 and sends a commit by its id only if a branch or a tag
	// points to it.
	RefuseCommits bool

	// AnnotatedTags makes each tag an object of its own that points to the
	// commit.
	AnnotatedTags bool

	// ManyRefs is the number of additional refs of each git repository: branches
	// ("refs/heads/branch-0") and pull requests of forges ("refs/pull/1/head") in
	// turn. ManyTags is the number of additional tags:
	// "v0.0.0" to "v0.0.49", "v0.1.0" and so on, unless the tree has that tag.
	// All of them point to the first commit of main; a repository
	// that the tree does not have, and a test publishes to, has none.
	ManyRefs, ManyTags int

	// MutateAfter is how many downloads of an archive have the original files. In all
	// later ones a comment line is added to each file. Zero means that no download is
	// changed. It works on /archives/ and /packages/; a tag
	// is moved by [World.MoveTag].
	MutateAfter int

	// OCIUser and OCIPassword are what the OCI registry demands by basic
	// authentication. An empty user means no authentication.
	OCIUser, OCIPassword string

	// OCIBearer makes the OCI registry demand a token for each repository, as
	// most public registries do. Tokens are given out at the URL that the
	// challenge names: to everyone if OCIUser is empty, and otherwise to clients that
	// send the user and password there, or the password as a refresh token.
	OCIBearer bool

	// OCIPageSize is the most tags that the OCI registry lists on one page, with
	// a link to the next one. Zero means as many as the client asks for.
	OCIPageSize int

	// OCIOnePage makes the OCI registry list all tags on one page, whatever the
	// client asks for. Some registries do.
	OCIOnePage bool

	// FailFirst is how many requests for each path are answered 503 before the path
	// works. It is short for the fault {Status: 503, Times: FailFirst}.
	FailFirst int

	// Faults are the initial faults. [World.SetFaults] replaces them.
	Faults []Fault
}

// Fault makes some answers fail. With a Status it replaces the original answer;
// otherwise it changes that.
type Fault struct {
	// Path is a prefix of the paths of affected requests. Empty means all.
	Path string

	// Times is how many requests for each path are affected. Zero means all.
	Times int

	// Status, if not zero, is answered with Body, and the request is not processed.
	// 429 and 503 come with "Retry-After: 0" unless Header says
	// otherwise.
	Status int
	Body   string

	// Header replaces headers of the answer. For example, a Location with Status 302
	// is a redirect, and a Content-Type alone makes the type wrong.
	// [HostPlaceholder] is expanded in its values.
	Header http.Header

	// Truncate closes the connection after half of the body, while Content-Length
	// has the full length. It does not affect answers to HEAD.
	Truncate bool

	// Delay is the time before the answer. It ends early if the client gives up.
	Delay time.Duration
}

func (o Options) check() error {
	if o.Hosted && o.HeaderLocations {
		return errors.New("modtest: the options Hosted and HeaderLocations exclude each other")
	}
	if o.Hosted && o.Archives {
		return errors.New("modtest: the options Hosted and Archives exclude each other")
	}
	return nil
}

// providerProtocols are the versions of the plugin protocol of all packages.
func (o Options) providerProtocols() []string {
	if o.ProviderProtocols == nil {
		return []string{"5.0"}
	}
	return o.ProviderProtocols
}

// gitPackages reports whether the registry points to git repositories.
func (o Options) gitPackages() bool { return !o.Archives && !o.Hosted }

// startFaults are the faults that are in force at first.
func (o Options) startFaults() []Fault {
	faults := o.Faults[:len(o.Faults):len(o.Faults)]
	if o.FailFirst > 0 {
		faults = append(faults, Fault{Status: http.StatusServiceUnavailable, Times: o.FailFirst})
	}
	return faults
}
