package addrs

import (
	"path"
	"strings"
)

// SplitSubdir splits an address at the "//" between a package and a directory in it. It
// returns both parts as written: subdir is not cleaned, and may be outside of the package.
// If the address has no directory, subdir is empty.
//
// The "//" of the first "://" and any "//" in the query string are not separators. The
// query string belongs to the package. A fragment is not special.
func SplitSubdir(addr string) (pkg, subdir string) {
	text, query := addr, ""
	if i := strings.IndexByte(addr, '?'); i >= 0 {
		text, query = addr[:i], addr[i:]
	}
	start := 0
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + len("://")
	}
	i := strings.Index(text[start:], "//")
	if i < 0 {
		return addr, ""
	}
	end := start + i
	return text[:end] + query, text[end+len("//"):]
}

// JoinSubdir joins and cleans two subdirectories of a package. inner is relative to outer,
// even if it begins with a slash. "" is the root. If the result leaves the package, the
// error is a *[ParseError] that wraps [ErrOutsidePackage].
func JoinSubdir(outer, inner string) (string, error) {
	if outer == "" && inner == "" {
		return "", nil
	}
	joined := path.Join(outer, inner)
	if escapes(joined) {
		return "", &ParseError{What: "subdirectory", Input: joined, Reason: ErrOutsidePackage.Error(), Err: ErrOutsidePackage}
	}
	return joined, nil
}

// splitCleanSubdir is SplitSubdir with a cleaned subdirectory. A "." is kept.
func splitCleanSubdir(addr string) (pkg, subdir string) {
	pkg, subdir = SplitSubdir(addr)
	if subdir != "" {
		subdir = path.Clean(subdir)
	}
	return pkg, subdir
}

// escapes reports whether a cleaned subdirectory is outside of its package. Stock tools
// check only the first of these conditions.
func escapes(subdir string) bool {
	return strings.HasPrefix(subdir, "../") || subdir == ".." || strings.HasPrefix(subdir, "/")
}

// outsidePackage does not include the subdirectory in the reason: the text after a "//" may
// be part of a URL that contains a secret.
func outsidePackage(raw string) *ParseError {
	return &ParseError{
		Input:  raw,
		Reason: "the subdirectory " + ErrOutsidePackage.Error(),
		Err:    ErrOutsidePackage,
	}
}

// withSubdir puts a subdirectory back where [SplitSubdir] took it from.
func withSubdir(pkg, subdir string) string {
	if subdir == "" {
		return pkg
	}
	text, query, hasQuery := strings.Cut(pkg, "?")
	if !hasQuery {
		return pkg + "//" + subdir
	}
	return text + "//" + subdir + "?" + query
}
