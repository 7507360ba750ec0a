package addrs

import (
	"net/url"
	"slices"
	"strings"
)

// WithoutCredentials is the package without what nobody may write to a file:
// user names and passwords, but not the user of an ssh address, which is part
// of the place, and every argument of the query and the fragment that might be
// a secret. The fragment of a gcs address stays if it is a number, which is the
// generation of an object. The result tells places apart; it may not be enough to fetch from
// them.
func (p ModulePackage) WithoutCredentials() ModulePackage {
	u, err := url.Parse(p.rest())
	if err != nil {
		return ParseModulePackage(Redact(p.String()))
	}
	location, fragment := p.location, ""
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" {
		location = withoutUserinfo(location)
	}
	if p.forced == "gcs::" && isDigits(strings.TrimPrefix(p.fragment, "#")) {
		fragment = p.fragment
	}
	kept := slices.DeleteFunc(p.arguments(), func(argument string) bool { return !isContent(argument) })
	return ParseModulePackage(p.forced + location + queryOf(kept) + fragment)
}

// isContent reports whether an argument says which content is meant and cannot
// hold anything else. Some readers end a value at a ";" or "?" and others do
// not, so an argument with one in it is none.
func isContent(argument string) bool {
	key, value, _ := strings.Cut(argument, "=")
	return (key == "region" || isShown(key, value)) && !strings.ContainsAny(argument, ";?")
}

// HoldsCredentials reports whether somebody wrote a secret into the address: a
// password, a user name of http or git (a token stands there as well), or an
// argument that has a secret by its name. It is narrower than
// [ModulePackage.WithoutCredentials], which leaves out whatever might be one.
func (p ModulePackage) HoldsCredentials() bool {
	u, err := url.Parse(p.rest())
	if err != nil {
		return false
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.User != nil && u.Scheme != "ssh" {
		return true
	}
	for name, values := range u.Query() {
		switch strings.ToLower(name) {
		case "sshkey", "aws_access_key_id", "aws_access_key_secret", "aws_access_token",
			"token", "access_token", "private_token", "job_token", "auth_token", "api_key", "apikey", "password", "secret",
			"sig", "signature", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential":
			return true
		}
		for _, value := range values {
			if nested, err := url.Parse(strings.TrimPrefix(value, "file:")); err == nil && nested.User != nil {
				return true // a checksum may be a URL
			}
		}
	}
	return false
}
