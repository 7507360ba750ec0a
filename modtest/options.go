package modtest

import (
	"errors"
	"net/http"
	"time"
)

// Options determine how the servers behave. With the zero value, the registry is understood by every known
// client and points to git commits.
type Options struct {
	// Archives makes the registry point to .tar.gz archives, by relative URLs, instead of git.
	Archives bool

	// Hosted makes the registry offer .tar.gz archives as its own ("use_registry_credentials": true;
	// OpenTofu 1.12 and later). It excludes Archives and HeaderLocations.
	Hosted bool

	// HeaderLocations makes the registry answer with status 204 and only the X-Terraform-Get header, like
	// older ones, instead of status 200 with the location there and in the body.
	HeaderLocations bool

	// Token is what the registry requires as "Authorization: Bearer TOKEN", also for Hosted packages, but
	// not for discovery, git, archives and files.
	Token string

	// ProviderReported makes the provider registry report the hashes for all platforms ("packages"), like
	// OpenTofu's.
	ProviderReported bool

	ProviderWarnings []string

	// ArchiveUser and ArchivePassword are for basic authentication at the archive server, if set.
	ArchiveUser, ArchivePassword string

	// RefuseCommits makes the git server an old one: with protocol version 0 only, and commits by id only
	// if a branch or a tag points to them.
	RefuseCommits bool

	// AnnotatedTags makes each tag an object that points to the commit.
	AnnotatedTags bool

	// GitUser and GitPassword are for basic authentication at the git server, if set.
	GitUser, GitPassword string

	// ManyRefs is the number of further refs of each repository in the tree, alternately branches
	// ("refs/heads/branch-0") and pull requests ("refs/pull/1/head"); ManyTags is that of further tags
	// ("v0.0.0" to "v0.0.49", "v0.1.0" and so on). All point to the last commit of main.
	ManyRefs, ManyTags int

	// OCIUser and OCIPassword are for basic authentication at the OCI registry, if set.
	OCIUser, OCIPassword string

	// OCIBearer makes the OCI registry require a token for each repository, like most public ones, from the
	// URL in the challenge. With OCIUser, the client must send user and password, or the password as a
	// refresh token.
	OCIBearer bool

	// OCIPageSize is the maximum number of tags on a page, with a link to the next; 0 means what the client
	// asks for.
	OCIPageSize int

	// OCIOnePage makes the OCI registry list all tags on one page, even if the client asks for fewer, as
	// some do.
	OCIOnePage bool

	// FailFirst is short for the fault {Status: 503, Times: FailFirst}.
	FailFirst int

	// Faults are the initial faults; see [World.SetFaults].
	Faults []Fault
}

// Fault makes some answers fail. With a Status it replaces the answer, and otherwise it changes it.
type Fault struct {
	// Path is a prefix of the affected paths.
	Path string

	// Times is the number of affected requests for each path; 0 means all.
	Times int

	// Status, if not 0, is that of an answer with Body, and the request is not processed. 429 and 503 have
	// "Retry-After: 0" unless Header has another value.
	Status int
	Body   string

	// Header replaces headers, such as Location with Status 302, or Content-Type. [HostPlaceholder] is
	// expanded.
	Header http.Header

	// RedirectHost is another name of the servers, such as "localhost", to which requests to all other
	// hosts are redirected.
	RedirectHost string

	// Truncate closes the connection after half of the body, except for HEAD.
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

func (o Options) gitPackages() bool { return !o.Archives && !o.Hosted }

func (o Options) startFaults() []Fault {
	faults := o.Faults[:len(o.Faults):len(o.Faults)]
	if o.FailFirst > 0 {
		faults = append(faults, Fault{Status: http.StatusServiceUnavailable, Times: o.FailFirst})
	}
	return faults
}
