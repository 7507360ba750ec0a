package hg

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// address is a package address taken apart.
type address struct {
	// remote is the repository's URL, with its credentials and without rev.
	remote url.URL
	// rev is "" where the address does not say.
	rev string
}

// changesetLen is the number of hexadecimal digits of a changeset's id.
const changesetLen = 40

// maxRev bounds the name of a revision; a tag or branch is a line of text.
const maxRev = 1024

func isChangeset(s string) bool {
	return len(s) == changesetLen && strings.Trim(s, "0123456789abcdef") == ""
}

// parseAddress checks that nothing in a URL can be an option, or anything else
// than a value of a configuration file.
func parseAddress(u *url.URL) (address, error) {
	if err := checkURL(u); err != nil {
		return address{}, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, errors.New("the query of the Mercurial address is malformed")
	}
	a := address{remote: *u, rev: query.Get("rev")}
	if err := checkRev(a.rev); err != nil {
		return address{}, fmt.Errorf("%q cannot be a revision: %w", a.rev, err)
	}
	query.Del("rev")
	a.remote.RawQuery, a.remote.ForceQuery = query.Encode(), false
	a.remote.OmitHost = false // file:/x is file:///x
	return a, nil
}

// checkURL checks that a URL is one to hand to hg, and that hg and ssh can take
// nothing in it for an option.
func checkURL(u *url.URL) error {
	password, _ := u.User.Password()
	switch {
	case !slices.Contains([]string{"https", "http", "ssh", "file"}, u.Scheme):
		return fmt.Errorf("the transport %q is none of https, http, ssh and file", u.Scheme)
	case u.Opaque != "", u.Scheme == "file" && !strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("the URL needs \"//\" after %q", u.Scheme+":")
	case u.Scheme == "file" && u.Host != "":
		return fmt.Errorf("a file URL has no host, but this one names %q", u.Host)
	case u.Scheme != "file" && u.Hostname() == "":
		return errors.New("the URL has no host")
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"):
		return errors.New("the URL has a host or user that begins with \"-\"")
	case strings.HasPrefix(strings.TrimLeft(u.Path, "/"), "-"):
		return errors.New("the URL has a path that begins with \"-\"")
	case strings.ContainsFunc(u.Host+u.Path+u.User.Username()+password, unicode.IsControl):
		return errors.New("the URL has control characters")
	case u.Fragment != "":
		return errors.New("a Mercurial address has no fragment; a changeset, tag or branch is given by ?rev=")
	}
	return nil
}

// checkRev checks a name. What is no name but an expression is unknown to the
// server, which looks for a name.
func checkRev(rev string) error {
	switch {
	case len(rev) > maxRev:
		return fmt.Errorf("it is longer than %d bytes", maxRev)
	case strings.HasPrefix(rev, "-"):
		return errors.New("it begins with \"-\"")
	case strings.ContainsFunc(rev, unicode.IsControl):
		return errors.New("it has control characters")
	}
	return nil
}
