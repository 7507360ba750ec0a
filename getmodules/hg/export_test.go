package hg

import (
	"context"
	"net/url"
)

// ParseAddress exports parseAddress and returns the arguments for hg.
func ParseAddress(u *url.URL) (remote, rev string, err error) {
	a, err := parseAddress(u)
	return a.remote.String(), a.rev, err
}

// Resolve exports the step of [Getter.Get] that looks up the changeset of an address. It
// makes the private repository in parent.
func Resolve(ctx context.Context, parent string, u *url.URL) (string, error) {
	addr, err := parseAddress(u)
	if err != nil {
		return "", err
	}
	program, err := Getter{}.find()
	if err != nil {
		return "", err
	}
	r := repository{program: program, env: Getter{}.environ(), parent: parent, addr: addr}
	if err := r.create(); err != nil {
		return "", err
	}
	return r.resolve(ctx)
}
