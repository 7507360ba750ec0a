package addrs

import (
	"net/url"
	"slices"
	"strings"
)

// contentArguments are the arguments of a query that say which content is
// meant. All others may be secrets: keys, tokens, signatures.
var contentArguments = []string{"ref", "tag", "digest", "depth", "archive", "version", "rev", "checksum", "region"}

// WithoutCredentials is the package without what nobody may write to a file:
// user names and passwords, but not the user of an ssh address, which is part
// of the place, and every argument of the query and the fragment that might be
// a secret. The result tells places apart; it may not be enough to fetch from
// them.
func (p ModulePackage) WithoutCredentials() ModulePackage {
	forced, rest := cutForced(string(p))
	u, err := url.Parse(rest)
	if err != nil {
		return ModulePackage(Redact(string(p)))
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" {
		rest = withoutUserinfo(rest)
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	var kept []string
	for argument := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(argument, "=")
		if slices.Contains(contentArguments, name) {
			kept = append(kept, argument)
		}
	}
	if len(kept) > 0 {
		rest += "?" + strings.Join(kept, "&")
	}
	if forced != "" {
		rest = forced + "::" + rest
	}
	return ModulePackage(rest)
}
