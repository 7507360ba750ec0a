package hg

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

type address struct {
	// remote is the repository, with its credentials and without the argument rev.
	remote url.URL
	rev    string
}

const changesetLen = 40

// maxRev is in bytes. A tag or branch is a line of text.
const maxRev = 1024

func isChangeset(s string) bool {
	return len(s) == changesetLen && strings.Trim(s, "0123456789abcdef") == ""
}

// parseAddress checks that no part of the URL can be mistaken for an option, or for several values in a
// configuration file.
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

// checkURL refuses URLs of which hg or ssh could mistake a part for an option.
func checkURL(u *url.URL) error {
	password, _ := u.User.Password()
	switch {
	case !slices.Contains([]string{"https", "http", "ssh", "file"}, u.Scheme):
		return fmt.Errorf("the transport %q is not https, http, ssh or file", u.Scheme)
	case u.Opaque != "", u.Scheme == "file" && !strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("the URL needs \"//\" after %q", u.Scheme+":")
	case u.Scheme == "file" && u.Host != "":
		return fmt.Errorf("a file URL cannot have a host, but this one has %q", u.Host)
	case u.Scheme != "file" && u.Hostname() == "":
		return errors.New("the URL has no host")
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"):
		return errors.New("the URL has a host or user that begins with \"-\"")
	case strings.HasPrefix(strings.TrimLeft(u.Path, "/"), "-"):
		return errors.New("the URL has a path that begins with \"-\"")
	case strings.ContainsFunc(u.Host+u.Path+u.User.Username()+password, unicode.IsControl):
		return errors.New("the URL has control characters")
	case u.Fragment != "":
		return errors.New("a Mercurial address cannot have a fragment; ?rev= names what to fetch")
	}
	return nil
}

// checkRev does not refuse expressions: the server looks them up as names and does not find them.
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
