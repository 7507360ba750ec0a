package hg

import "net/url"

// ParseAddress exports parseAddress as what hg is given.
func ParseAddress(u *url.URL) (remote, rev string, err error) {
	a, err := parseAddress(u)
	return a.remote.String(), a.rev, err
}
