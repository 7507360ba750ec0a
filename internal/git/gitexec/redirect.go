package gitexec

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

const maxRedirects = 5

// remote returns the URL to pass to git: the URL of the repository, or the URL that the server
// redirected to.
func (r *Repository) remote() string {
	if r.moved != nil {
		return r.moved.String()
	}
	return Target{URL: r.URL, Home: r.Home}.Text()
}

// talk runs a command that connects to the remote. It retries failures that may be temporary.
//
// Git follows no redirects, so its own first request shows whether there is one. Only then does
// talk search for the final URL, by requests of package httpx, and runs the command again with that
// URL. [Repository.Git] remembers it for the other commands of the run. command must use the URL
// that remote returns at the time of each call.
func (r *Repository) talk(ctx context.Context, command func() Command, run func(Command) error) error {
	for redirects := 0; ; {
		err := r.retry(ctx, func() error { return run(command()) })
		if says(err, saysNoPassword) && r.wantsEmptyPassword() {
			r.emptyPassword = true
			if err := r.writeConfig(ctx); err != nil {
				return err
			}
			err = r.retry(ctx, func() error { return run(command()) })
		}
		if !says(err, saysRedirect) {
			return err
		}
		followed, failed := r.followRedirects(ctx, maxRedirects-redirects)
		switch _, failedRequest := errors.AsType[*httpx.NetworkError](failed); {
		case failedRequest:
			return fmt.Errorf("%w; the request to find the URL that it redirects to failed: %w", err, failed)
		case failed != nil:
			return failed
		case followed == 0:
			return err
		}
		redirects += followed
		if err := r.writeConfig(ctx); err != nil {
			return err
		}
		r.Git.moved.Store(httpx.Share(ctx, r.URL.String()), r.moved)
	}
}

// followRedirects finds the URL that the server redirects the repository to, and returns the number
// of redirects. It returns 0 if there is no redirect for these requests, or if the user disabled
// redirects. With more redirects than limit, it returns an error.
func (r *Repository) followRedirects(ctx context.Context, limit int) (redirects int, err error) {
	settings, err := r.Git.HTTPSettings(ctx)
	if err != nil || !settings.followsRedirects(r.URL) {
		return 0, err
	}
	at := r.URL
	if r.moved != nil {
		at = r.moved
	}
	if at.Scheme != "https" && at.Scheme != "http" {
		return 0, nil
	}
	// Servers that another server chose do not get the credentials and headers for the first one.
	isFirstOrigin := true
	for ; ; redirects++ {
		location, err := r.location(ctx, at, isFirstOrigin)
		if err != nil {
			return 0, err
		}
		if location == "" {
			break
		}
		if redirects == limit {
			return 0, fmt.Errorf("%w: more than %d redirects", git.ErrRefused, maxRedirects)
		}
		next, err := redirectedRepository(ctx, at, location)
		if err != nil {
			return 0, err
		}
		isFirstOrigin = isFirstOrigin && httpx.SameOrigin(at, next)
		ctx = httpx.PointedToHost(ctx, at, next)
		at = next
	}
	if redirects > 0 {
		r.moved = at
	}
	return redirects, nil
}

// listingEnd is the end of the URL that git requests the list of refs from.
func listingEnd(repository *url.URL) string {
	if repository.RawQuery != "" {
		return "/info/refs&service=git-upload-pack"
	}
	return "/info/refs?service=git-upload-pack"
}

// listingURL returns the URL that git requests the list of a repository's refs from.
func listingURL(repository *url.URL) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(repository.String(), "/") + listingEnd(repository))
	if err == nil {
		u.User = nil
	}
	return u, err
}

// redirectedRepository returns the URL of the repository that a redirect of the request for its
// list of refs points to. As in git, the URLs of both requests must end in the same way.
func redirectedRepository(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
	requested, err := listingURL(from)
	if err != nil {
		return nil, err
	}
	to, err := httpx.Redirect(ctx, requested, location)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", git.ErrRefused, err)
	}
	base, ok := strings.CutSuffix(to.String(), listingEnd(from))
	if !ok {
		return nil, fmt.Errorf("%w: the redirect to %q does not point to a repository", git.ErrRefused, addrs.Redact(to.String()))
	}
	next, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if err := git.CheckURL(next, []string{"https", "http"}); err != nil {
		return nil, fmt.Errorf("%w: the redirect to %q: %w", git.ErrRefused, addrs.Redact(base), err)
	}
	return next, nil
}
