package addrs

import (
	"net/url"
	"slices"
	"strings"
)

// WithoutCredentials returns the address without user names, passwords, and all arguments
// of the query and the fragment that can be secrets. The result can be written to a file.
// It keeps the user of an ssh address, which is part of the location. It also keeps the
// fragment of a gcs address if that is a number, because it is the generation of an object.
// The result identifies the location, but may not be sufficient to fetch from it.
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

// isContent reports whether an argument selects the content and contains nothing else. It
// returns false for an argument with ";" or "?", because some parsers end a value there.
func isContent(argument string) bool {
	key, value, _ := strings.Cut(argument, "=")
	return (key == "region" || isShown(key, value)) && !strings.ContainsAny(argument, ";?")
}

// HoldsCredentials reports whether the address contains a secret: a password, a user
// name of http or git (which can be a token), or an argument with the name of a
// secret. It is narrower than [ModulePackage.WithoutCredentials], which removes
// everything that can be a secret.
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
