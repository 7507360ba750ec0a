package addrs

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

var errUnrecognized = errors.New(`it is not recognized as a registry address or a remote package; a path to a local module must begin with "./" or "../"`)

// Errors about addresses with a user, which messages do not show.
var (
	errNoColon = errors.New(`a user and a host, which are written without "ssh://", have a colon before the path, as in "git@HOST:PATH"; the user is not shown here`)
	errColon   = errors.New(`a URL has a slash between host and path; with a colon it is written without "ssh://", as in "git@HOST:PATH"; the user is not shown here`)
)

// unrecognized returns the error for text that is no address, with the reason if it was probably meant for ssh.
func unrecognized(src string) error {
	scheme, rest, isURL := strings.Cut(src, "://")
	if !isURL {
		scheme, rest = "", src
	}
	authority, _, hasPath := strings.Cut(rest, "/")
	user, host, hasUser := strings.Cut(authority, "@")
	switch {
	case !hasPath || !hasUser || user == "" || host == "":
	case scheme == "" && !strings.Contains(authority, ":"):
		return errNoColon
	case scheme == "ssh" && strings.Contains(host, ":"):
		return errColon
	}
	return errUnrecognized
}

var errEmpty = errors.New("it names no package")

// detector rewrites one kind of shorthand to a URL, which may have a forced getter and a
// subdirectory. It returns false for any other text. An error ends the detection.
type detector func(src string) (found string, ok bool, err error)

// detectors returns the detectors of OpenTofu, in its order, because most search for text anywhere.
func detectors() [6]detector {
	return [...]detector{detectGitHub, detectGit, detectBitbucket, detectGCS, detectS3, detectFile}
}

// detect converts the text that a user wrote to a package address. If a shorthand implies a
// subdirectory, the address has it. Text that is a URL with a scheme is not changed.
func detect(addr string) (string, error) {
	forced, src := cutForced(addr)
	// This second split finds something only after a forced getter, as in "git:://x", where
	// the first split took the colon for the one after a scheme.
	src, subdir := SplitSubdir(src)
	if u, err := url.Parse(src); err == nil && u.Scheme != "" {
		return addr, nil
	}
	if src == "" {
		return "", errEmpty
	}
	for _, detect := range detectors() {
		found, ok, err := detect(src)
		if err != nil {
			return "", err
		}
		if ok {
			return assemble(forced, found, subdir)
		}
	}
	return "", unrecognized(src)
}

// assemble joins the result of a detector with the text around the shorthand; the user's getter wins.
func assemble(forced, found, subdir string) (string, error) {
	implied, location := cutForced(found)
	location, own := SplitSubdir(location)
	switch {
	case own != "" && subdir != "":
		subdir = path.Join(own, subdir)
	case own != "":
		subdir = own
	}
	if subdir != "" {
		var err error
		if location, err = appendSubdir(location, subdir); err != nil {
			return "", err
		}
	}
	if forced == "" {
		forced = implied
	}
	if forced == "" {
		return location, nil
	}
	return forced + "::" + location, nil
}

// appendSubdir parses and formats the URL, as go-getter does: an escaped percent sign is escaped again.
func appendSubdir(location, subdir string) (string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", errors.New("the URL of the shorthand is malformed")
	}
	u.Path += "//" + subdir
	// This leaves a glob in the subdirectory unescaped.
	u.RawPath = u.Path
	return u.String(), nil
}

// cutForced cuts off a forced getter of letters and digits; the rest may be any text on one line.
func cutForced(addr string) (getter, rest string) {
	getter, rest, found := strings.Cut(addr, "::")
	if !found || rest == "" || getter == "" || !hasOnlyAlphanumericsOr(getter, "") || strings.Contains(rest, "\n") {
		return "", addr
	}
	return getter, rest
}

func hasOnlyAlphanumericsOr(s, others string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// detectGit recognizes git@HOST:PATH[?QUERY]. It parses the query before it checks the user, so a
// malformed one is an error in any address with a colon in the right place, even in an absolute path.
func detectGit(src string) (string, bool, error) {
	user, host, rest, ok := splitSCP(src)
	if !ok {
		return "", false, nil
	}
	file, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false, errors.New("the query string is malformed")
	}
	if user != "git" {
		return "", false, nil
	}
	u := url.URL{
		Scheme: "ssh",
		User:   url.User(user),
		Host:   host,
		Path:   file,
		// This sorts by key. All other detectors keep the order.
		RawQuery: values.Encode(),
	}
	return "git::" + u.String(), true, nil
}

// splitSCP splits [USER@]HOST:[/]PATH. The user ends at the first "@" and the host at the
// next ":". If that does not match, the "@" can be part of the host or the path.
func splitSCP(src string) (user, host, file string, ok bool) {
	if before, after, found := strings.Cut(src, "@"); found && before != "" {
		if host, file, ok := splitHostPath(after); ok {
			return before, host, file, true
		}
	}
	host, file, ok = splitHostPath(src)
	return "", host, file, ok
}

func splitHostPath(s string) (host, file string, ok bool) {
	host, file, found := strings.Cut(s, ":")
	if !found || host == "" || file == "" || strings.Contains(file, "\n") {
		return "", "", false
	}
	if file != "/" {
		file = strings.TrimPrefix(file, "/")
	}
	return host, file, true
}

// detectGitHub recognizes github.com/OWNER/REPO[/SUBDIR][?QUERY]. It cuts off the query
// first, so that a slash in a ref does not begin a subdirectory.
func detectGitHub(src string) (string, bool, error) {
	return detectForge("github.com", src)
}

func detectForge(host, src string) (string, bool, error) {
	text, query, _ := strings.Cut(src, "?")
	if !strings.HasPrefix(text, host+"/") {
		return "", false, nil
	}
	parts := strings.SplitN(text, "/", 4)
	if len(parts) < 3 {
		return "", false, errors.New("an address at " + host + " needs the owner and the name of a repository")
	}
	u, err := url.Parse("https://" + strings.Join(parts[:3], "/"))
	if err != nil {
		return "", false, errors.New("the repository's URL is malformed")
	}
	// Use Path, not JoinPath or RawPath: the escapes of a repository are decoded if
	// something is appended, and unchanged otherwise.
	if !strings.HasSuffix(u.Path, ".git") {
		u.Path += ".git"
	}
	if len(parts) > 3 {
		u.Path += "//" + parts[3]
	}
	found := "git::" + u.String()
	if query != "" {
		found += "?" + query
	}
	return found, true, nil
}

// detectBitbucket parses bitbucket.org/OWNER/REPO[/SUBDIR][?QUERY] like [detectGitHub]. An empty owner or
// repository is an error, because stock tools query Bitbucket's API, which has no such repositories.
func detectBitbucket(src string) (string, bool, error) {
	const host = "bitbucket.org"
	text, _, _ := strings.Cut(src, "?")
	parts := strings.SplitN(text, "/", 4)
	if parts[0] == host && len(parts) > 2 && (parts[1] == "" || parts[2] == "") {
		return "", false, errors.New("the owner or the name of the repository is empty")
	}
	return detectForge(host, src)
}

// detectS3 converts any text that contains ".amazonaws.com/" to a path-style URL. Like stock tools, it
// only counts the labels of the host, so it reads s3.REGION.amazonaws.com as a bucket named "s3".
func detectS3(src string) (string, bool, error) {
	if !strings.Contains(src, ".amazonaws.com/") {
		return "", false, nil
	}
	host, key, _ := strings.Cut(src, "/")
	var endpoint, bucket string
	switch labels := strings.Split(host, "."); {
	case len(labels) == 3: // ENDPOINT.amazonaws.com/BUCKET/KEY
		endpoint = labels[0]
	case len(labels) == 4: // BUCKET.ENDPOINT.amazonaws.com/KEY
		endpoint, bucket = labels[1], labels[0]+"/"
	case len(labels) == 5 && labels[1] == "s3": // BUCKET.s3.REGION.amazonaws.com/KEY
		endpoint, bucket = "s3."+labels[2], labels[0]+"/"
	default:
		return "", false, errors.New("an S3 address has the form BUCKET.s3.REGION.amazonaws.com/KEY")
	}
	u, err := url.Parse("https://" + endpoint + ".amazonaws.com/" + bucket + key)
	if err != nil {
		return "", false, errors.New("the URL of the S3 address is malformed")
	}
	return "s3::" + u.String(), true, nil
}

// detectGCS recognizes any text that contains ".googleapis.com/", and parses it as
// HOST/storage/VERSION/BUCKET/OBJECT. It ignores the first two parts.
func detectGCS(src string) (string, bool, error) {
	if !strings.Contains(src, ".googleapis.com/") {
		return "", false, nil
	}
	parts := strings.SplitN(src, "/", 5)
	if len(parts) < 5 {
		return "", false, errors.New("an address of Google Cloud Storage has the form www.googleapis.com/storage/v1/BUCKET/OBJECT")
	}
	u, err := url.Parse("https://www.googleapis.com/storage/" + strings.Join(parts[2:], "/"))
	if err != nil {
		return "", false, errors.New("the URL of the address in Google Cloud Storage is malformed")
	}
	return "gcs::" + u.String(), true, nil
}

// detectFile recognizes absolute paths. It does not escape them, so a "?" begins a query string.
func detectFile(src string) (string, bool, error) {
	if !filepath.IsAbs(src) {
		return "", false, nil
	}
	return "file://" + filepath.ToSlash(src), true, nil
}
