package gitexec

import (
	"net/url"
	"path"
	"strings"
)

// urlPattern is the URL of http.<url>, by the rules of git-config(1): scheme, host and port are equal, and its
// path is a prefix. A label "*" of its host stands for any one label.
type urlPattern struct {
	scheme, host, port, path string
	// hasUser is set if it applies only to URLs with a user. Git gets none from us.
	hasUser bool
}

// urlMatch counts the longer host first, and then the longer path.
type urlMatch struct{ host, path int }

func (m urlMatch) isWorseThan(other urlMatch) bool {
	return m.host < other.host || m.host == other.host && m.path < other.path
}

// parseURLPattern returns false if git would ignore the pattern.
func parseURLPattern(raw string) (p urlPattern, ok bool) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme == "" {
		return urlPattern{}, false
	}
	if strings.ContainsAny(rest, "?#") {
		return urlPattern{}, false // it applies only to URLs with a query, which are left to git
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	host := rest[:end]
	p.scheme = strings.ToLower(scheme)
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		p.hasUser, host = true, host[at+1:]
	}
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host, p.port = host[:colon], host[colon+1:]
	}
	if strings.Trim(p.port, "0123456789") != "" || strings.ContainsAny(host, " %\\") {
		return urlPattern{}, false
	}
	p.host, p.port = strings.ToLower(host), normalPort(p.scheme, p.port)
	p.path, ok = normalPath(rest[end:])
	return p, ok
}

func normalPort(scheme, port string) string {
	port = strings.TrimLeft(port, "0")
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return ""
	}
	return port
}

// unreserved are characters whose escapes mean the same.
const unreserved = "-._~"

// normalPath returns false if an escape is malformed.
func normalPath(escaped string) (string, bool) {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		c, isEscape := escaped[i], false
		if c == '%' {
			decoded, err := url.PathUnescape(escaped[i:min(i+3, len(escaped))])
			if err != nil || len(decoded) != 1 {
				return "", false
			}
			c, isEscape = decoded[0], true
			i += 2
		}
		isAlphanumeric := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		isPlain := isAlphanumeric || strings.IndexByte(unreserved, c) >= 0 || !isEscape && strings.IndexByte("/!$&'()*+,;=:@[]", c) >= 0
		if isPlain {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
	}
	// As in git, elements "." and ".." are resolved; an empty element stays.
	cleaned := b.String()
	if strings.Contains(cleaned, "/.") {
		isDir := strings.HasSuffix(cleaned, "/") || strings.HasSuffix(cleaned, "/.") || strings.HasSuffix(cleaned, "/..")
		if cleaned = path.Clean(cleaned); isDir && cleaned != "/" {
			cleaned += "/"
		}
	}
	return cleaned, true
}

// match reports whether, and how exactly, a pattern fits a URL.
func (p urlPattern) match(u *url.URL) (urlMatch, bool) {
	if p.hasUser || p.scheme != strings.ToLower(u.Scheme) || p.port != normalPort(p.scheme, u.Port()) || !p.matchesHost(u) {
		return urlMatch{}, false
	}
	of, ok := normalPath(u.EscapedPath())
	if !ok {
		return urlMatch{}, false
	}
	own := strings.TrimSuffix(p.path, "/")
	if own == "" {
		return urlMatch{len(p.host), 1}, true
	}
	rest, isPrefix := strings.CutPrefix(of, own)
	return urlMatch{len(p.host), len(own) + 1}, isPrefix && (rest == "" || rest[0] == '/')
}

func (p urlPattern) matchesHost(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		return p.host == "["+host+"]"
	}
	own, of := strings.Split(p.host, "."), strings.Split(host, ".")
	if len(own) != len(of) {
		return false
	}
	for i, label := range own {
		if label != "*" && label != of[i] {
			return false
		}
	}
	return true
}
