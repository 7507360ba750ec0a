package addrs

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// redacted replaces secrets, as sanitize.Redacted does.
const redacted = "REDACTED"

// Redact returns an address in a form that can be shown, logged and stored. It removes passwords and user
// names, which can be tokens, but not a user of ssh without a password, which is part of the location. It
// replaces the fragment and the values in the query string with "REDACTED", except for arguments that
// select the content: ref, tag, digest, depth, archive, version, rev and checksum. A local path, in which
// "?" and "#" are parts of names, stays as it is.
//
// It also accepts text that is not a URL. In case of doubt it removes too much. The result cannot always
// be parsed.
func Redact(addr string) string {
	if isLocal(addr) && !strings.Contains(addr, "//") { // else it may be a path before a URL
		return addr
	}
	text, query, hasQuery := strings.Cut(withoutUserinfo(addr), "?")
	if before, _, found := strings.Cut(text, "#"); found {
		text = before + "#" + redacted
	}
	if hasQuery {
		text += "?" + redactQuery(query)
	}
	return text
}

// userinfo and address match possible secrets in text; userinfo also in truncated or split addresses.
var (
	userinfo = regexp.MustCompile(`://[^/\s'"@]*@`)
	address  = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s'"]+`)
)

// RedactText redacts the URLs in a text, such as a message from git or from a server.
func RedactText(text string) string {
	var out strings.Builder
	from := 0
	for _, at := range userinfo.FindAllStringIndex(text, -1) {
		out.WriteString(text[from:at[0]] + "://")
		authority := text[at[0]+len("://"):]
		if end := strings.IndexAny(authority, "/?# \t\n\f\r'\""); end >= 0 {
			authority = authority[:end]
		}
		if from = at[1]; keepsUser(text[:at[0]+len(":")], authority) {
			from = at[0] + len("://")
		}
	}
	return address.ReplaceAllStringFunc(out.String()+text[from:], Redact)
}

// sshUser matches the authority of an ssh URL with a user that may be shown: a plain name, a host and a port.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(:[0-9]*)?$`)

// keepsUser reports whether the user in an authority is kept. scheme is the text before "//".
func keepsUser(scheme, authority string) bool {
	i := len(scheme) - len("ssh:")
	if i < 0 || scheme[i:] != "ssh:" || i > 0 && isSchemeByte(scheme[i-1]) {
		return false
	}
	const longest = 512 // a server may send megabytes of text to redact
	return len(authority) <= longest && sshUser.MatchString(authority)
}

// isSchemeByte reports whether a byte can be a part of a URL's scheme.
func isSchemeByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'
}

// withoutUserinfo removes the userinfo wherever an authority can be: at the beginning (git@host:path) and
// after each "//", because an address may contain a second URL.
func withoutUserinfo(addr string) string {
	var out strings.Builder
	rest := addr
	for {
		forced, behind := cutForced(rest)
		if forced == "" {
			break
		}
		out.WriteString(forced + "::")
		rest = behind
	}
	lastAt := len(rest) - strings.LastIndexByte(rest, '@')
	for before := ""; ; {
		if !keepsUser(before, rest[:segmentEnd(rest)]) {
			rest = cutUserinfo(rest, lastAt)
		}
		i := strings.Index(rest, "//")
		if i < 0 {
			break
		}
		isAuthority := i == 0 || rest[i-1] == ':'
		before = rest[:i]
		out.WriteString(rest[:i+2])
		rest = rest[i+2:]
		if !isAuthority {
			// In a subdirectory, "@" has no meaning.
			end := segmentEnd(rest)
			out.WriteString(rest[:end])
			rest = rest[end:]
		}
	}
	return out.String() + rest
}

// cutUserinfo removes the userinfo from text that may begin with an authority. If that has no "@" and its
// port is not a number, an unescaped "/", "?" or "#" in a password may have ended it early: then
// everything up to the last "@", lastAt bytes before the end, is removed if it is in s.
func cutUserinfo(s string, lastAt int) string {
	end := segmentEnd(s)
	authority := s[:end]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return s[i+1:]
	}
	if strings.HasSuffix(authority, ":") && strings.HasPrefix(s[end:], "//") {
		return s // the authority was a scheme
	}
	if strings.HasPrefix(authority, "[") && strings.HasSuffix(authority, "]") {
		if _, err := netip.ParseAddr(strings.Trim(authority, "[]")); err == nil {
			return s // it has no port
		}
	}
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !isDigits(authority[i+1:]) {
		return s[max(0, len(s)-lastAt+1):]
	}
	return s
}

func segmentEnd(s string) int {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return i
	}
	return len(s)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// redactQuery splits at the separators of all parsers, so that no value is hidden in another one.
func redactQuery(query string) string {
	text, _, hasFragment := strings.Cut(query, "#")
	var out strings.Builder
	for text != "" {
		end := strings.IndexAny(text, "&;?")
		if end < 0 {
			end = len(text)
		}
		after := min(end+1, len(text))
		out.WriteString(redactArgument(text[:end]) + text[end:after])
		text = text[after:]
	}
	if hasFragment {
		out.WriteString("#" + redacted)
	}
	return out.String()
}

func redactArgument(arg string) string {
	key, value, hasValue := strings.Cut(arg, "=")
	switch {
	case arg == "", isShown(key, value):
		return arg
	case !hasValue:
		return redacted // it may be a token without a name
	}
	return key + "=" + redacted
}

// isShown reports whether the value of an argument may be shown: never a URL, as checksum can have.
func isShown(key, value string) bool {
	switch key {
	case "ref", "tag", "digest", "depth", "archive", "version", "rev", "checksum":
	default:
		return false
	}
	plain, err := url.QueryUnescape(value)
	return err == nil && !strings.Contains(plain, "://")
}

// WithoutCredentials returns the address without user names, passwords, and all arguments and fragments
// that can be secrets, so that it can be written to a file. It keeps the user of an ssh address, and a
// fragment of gcs that is a number, the generation of an object. The result may not suffice to fetch from
// it.
func (p ModulePackage) WithoutCredentials() ModulePackage { return p.keep(isContent) }

// keep removes the user names, passwords and fragments, and the arguments that isKept does not accept.
func (p ModulePackage) keep(isKept func(argument string) bool) ModulePackage {
	parts := p.parts()
	u, err := url.Parse(parts.rest())
	if err != nil {
		return ParseModulePackage(Redact(p.String()))
	}
	location, fragment := parts.location, ""
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" {
		// What stays can look as if it had userinfo, and the form of a form must be the form.
		for before := ""; before != location; {
			before, location = location, withoutUserinfo(location)
		}
	}
	if parts.forced == "gcs::" && isDigits(strings.TrimPrefix(parts.fragment, "#")) {
		fragment = parts.fragment
	}
	kept := slices.DeleteFunc(p.arguments(), func(argument string) bool { return !isKept(argument) })
	form := ParseModulePackage(parts.forced + location + queryOf(kept) + fragment)
	if _, err := url.Parse(form.parts().rest()); err != nil { // what was before a user is no scheme any more
		return ParseModulePackage(Redact(form.String()))
	}
	return form
}

// isContent reports whether an argument only selects content. ";" and "?" end a value for some parsers.
func isContent(argument string) bool {
	key, value, _ := strings.Cut(argument, "=")
	return (key == "region" || isShown(key, value)) && !strings.ContainsAny(argument, ";?")
}

// HoldsCredentials reports whether the address contains a secret: a password, a user of http or git
// (which can be a token), or an argument with the name of a credential. [ModulePackage.WithoutCredentials]
// removes more, everything that can be a secret.
func (p ModulePackage) HoldsCredentials() bool {
	u, err := url.Parse(p.parts().rest())
	return err == nil && (holdsUser(u) || holdsSecretArgument(u))
}

// HoldsSecret is HoldsCredentials, except that it does not count a user name without a password that is known to be no
// secret: the first element of the path, as in the addresses of Azure DevOps, or one that forges accept beside a token.
func (p ModulePackage) HoldsSecret() bool {
	u, err := url.Parse(p.parts().rest())
	return err == nil && (holdsUser(u) && !isPublicName(u) || holdsSecretArgument(u))
}

func holdsUser(u *url.URL) bool {
	_, hasPassword := u.User.Password()
	return hasPassword || u.User != nil && u.Scheme != "ssh"
}

func isPublicName(u *url.URL) bool {
	if _, hasPassword := u.User.Password(); hasPassword {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	name := u.User.Username()
	return name != "" && name == first || slices.Contains([]string{"git", "oauth2", "x-access-token", "x-token-auth"}, name)
}

func holdsSecretArgument(u *url.URL) bool {
	for name, values := range u.Query() {
		if isCredential(name) {
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
