package modtest

import (
	"errors"
	"net/http"
	"time"
)

// Options determine how the servers of a [World] behave. With the zero value, the registry is
// understood by every known client and points to commits of a git server.
type Options struct {
	// Archives makes the registry point to .tar.gz archives instead of git. The locations are
	// relative URLs.
	Archives bool

	// Hosted makes the registry offer .tar.gz archives as its own packages
	// ("use_registry_credentials": true), which OpenTofu 1.12 and later understands. It excludes
	// Archives and HeaderLocations.
	Hosted bool

	// HeaderLocations makes the registry answer with status 204 and only the X-Terraform-Get
	// header, like older registries. By default, it answers with status 200 and has the location
	// both in that header and in the body.
	HeaderLocations bool

	// Token is the token that the registry requires as "Authorization: Bearer TOKEN". It also
	// requires the token for Hosted packages, but not for discovery, git, archives and files. ""
	// means no authentication.
	Token string

	// NoProviders removes the provider registry from the discovery document.
	NoProviders bool

	// ProviderReported makes the provider registry report the hashes of the packages for all
	// platforms ("packages"), like OpenTofu's registry.
	ProviderReported bool

	// ProviderProtocols are the plugin protocol versions of all provider packages. nil means
	// "5.0".
	ProviderProtocols []string

	// ProviderWarnings are the warnings in listings of providers.
	ProviderWarnings []string

	// ProviderMoved has the new address, "NAMESPACE/TYPE", of providers by type. The registry
	// reports it if such a type is requested without a namespace ("-/TYPE").
	ProviderMoved map[string]string

	// MadeUp makes the registries have every provider and every module that is requested. Those
	// that neither the tree nor a later call has are made up as by [World.MakeUpProvider] and
	// [World.MakeUpModule] without wanted versions.
	MadeUp bool

	// ArchiveUser and ArchivePassword are required by the archive server with basic
	// authentication. An empty user means no authentication.
	ArchiveUser, ArchivePassword string

	// RefuseCommits makes the git server behave like an old one: it uses only protocol version 0,
	// and sends a commit by its id only if a branch or a tag points to it.
	RefuseCommits bool

	// AnnotatedTags makes each tag an object that points to the commit.
	AnnotatedTags bool

	// GitUser and GitPassword are required by the git server with basic authentication. An empty GitUser
	// means no authentication.
	GitUser, GitPassword string

	// ManyRefs is the number of additional refs of each git repository: alternately branches
	// ("refs/heads/branch-0") and pull requests of forges ("refs/pull/1/head"). ManyTags is the
	// number of additional tags: "v0.0.0" to "v0.0.49", "v0.1.0" and so on, except those that the
	// tree has. All of them point to the last commit of main. A repository that is not in the
	// tree, but is created by publishing to it, has none.
	ManyRefs, ManyTags int

	// MutateAfter is the number of downloads of an archive that have the original files. In all
	// later downloads, each file has an additional comment line. 0 means that no download is
	// changed. It affects /archives/ and /packages/. To move a tag, use [World.MoveTag].
	MutateAfter int

	// OCIUser and OCIPassword are required by the OCI registry with basic authentication. An empty
	// user means no authentication.
	OCIUser, OCIPassword string

	// OCIBearer makes the OCI registry require a token for each repository, like most public
	// registries. Tokens are issued at the URL in the challenge. If OCIUser is empty, every client
	// gets one. Otherwise the client must send the user and password, or the password as a refresh
	// token.
	OCIBearer bool

	// OCIPageSize is the maximum number of tags that the OCI registry lists on one page, with a
	// link to the next page. 0 means as many as the client asks for.
	OCIPageSize int

	// OCIOnePage makes the OCI registry list all tags on one page, even if the client asks for
	// fewer. Some registries do that.
	OCIOnePage bool

	// FailFirst is the number of requests for each path that are answered with status 503 before
	// the path works. It is short for the fault {Status: 503, Times: FailFirst}.
	FailFirst int

	// Faults are the initial faults. [World.SetFaults] replaces them.
	Faults []Fault
}

// Fault makes some answers fail. If Status is set, it replaces the original answer; otherwise it
// changes the original answer.
type Fault struct {
	// Path is a prefix of the paths of affected requests. "" means all paths.
	Path string

	// Times is the number of affected requests for each path. 0 means all requests.
	Times int

	// Status, if not 0, is the status of an answer with Body, and the request is not processed.
	// The answers 429 and 503 have "Retry-After: 0" unless Header has another value.
	Status int
	Body   string

	// Header replaces headers of the answer. For example, a Location with Status 302 is a
	// redirect, and a Content-Type without Status makes the type wrong. [HostPlaceholder] is
	// expanded in its values.
	Header http.Header

	// RedirectHost, if not "", is another name of the world's servers, such as "localhost".
	// Requests to all other hosts are redirected to it, with the same port, path and query.
	RedirectHost string

	// Truncate closes the connection after half of the body, although Content-Length has the full
	// length. It does not affect answers to HEAD.
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

// providerProtocols returns the plugin protocol versions of all packages.
func (o Options) providerProtocols() []string {
	if o.ProviderProtocols == nil {
		return []string{"5.0"}
	}
	return o.ProviderProtocols
}

// gitPackages reports whether the registry points to git repositories.
func (o Options) gitPackages() bool { return !o.Archives && !o.Hosted }

func (o Options) startFaults() []Fault {
	faults := o.Faults[:len(o.Faults):len(o.Faults)]
	if o.FailFirst > 0 {
		faults = append(faults, Fault{Status: http.StatusServiceUnavailable, Times: o.FailFirst})
	}
	return faults
}
