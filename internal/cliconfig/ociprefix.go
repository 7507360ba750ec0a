package cliconfig

import (
	"regexp"
	"strings"
)

// repository is an OCI repository, or all below a path, or with an empty path
// all at a host. The host has its port if there is one, and is in lower case.
type repository struct{ host, path string }

// specificity is how well something that is configured matches a repository.
// Every segment of a path adds one to that of the host.
type specificity int

const (
	noMatch specificity = iota
	everywhere
	wholeHost
)

// repositoryPattern is HOST[:PORT][/PATH] with a path as the OCI distribution
// specification has it.
var repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

// parseRepository parses HOST[:PORT][/PATH].
func parseRepository(s string) (repository, bool) {
	if !repositoryPattern.MatchString(s) {
		return repository{}, false
	}
	host, path, _ := strings.Cut(s, "/")
	return repository{strings.ToLower(host), path}, true
}

// covers says how well r, as a prefix, matches a repository. Hosts match with
// their ports, and paths by whole segments.
func (r repository) covers(want repository) specificity {
	switch {
	case r.host != want.host:
		return noMatch
	case r.path == "":
		return wholeHost
	case r.path == want.path || strings.HasPrefix(want.path, r.path+"/"):
		return wholeHost + 1 + specificity(strings.Count(r.path, "/"))
	}
	return noMatch
}
