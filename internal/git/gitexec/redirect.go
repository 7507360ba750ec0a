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

// userAgent begins like git's own, because some servers use it to distinguish git from browsers.
const userAgent = "git/cotter"

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
	at := r.URL
	if r.moved != nil {
		at = r.moved
	}
	if at.Scheme != "https" && at.Scheme != "http" {
		return 0, nil
	}
	settings, err := r.Git.Settings(ctx)
	if err != nil || settings.For(at, false).StaysAtRedirects {
		return 0, err
	}
	requests := r.requests(settings)
	if err := requests.Open(); err != nil {
		if only, ok := errors.AsType[*SettingError](err); ok {
			err = fmt.Errorf("the server redirects to another URL, which is not used because of git's setting %s; use that URL in the address", only.Name)
		}
		return 0, err
	}
	for ; ; redirects++ {
		location, err := requests.location(ctx, at)
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
		ctx = httpx.PointedToHost(ctx, at, next)
		at = next
	}
	if redirects > 0 {
		r.moved = at
	}
	return redirects, nil
}

// requests returns what sends requests to the repository as git does.
func (r *Repository) requests(settings *Settings) *Requests {
	user := r.User
	if r.emptyPassword {
		user = url.UserPassword(user.Username(), "")
	}
	return &Requests{
		Git: r.Git, Settings: settings, Repository: r.URL, User: user, Named: r.Named, PlainCredentials: r.PlainCredentials,
		Client: &httpx.Client{UserAgent: userAgent, Retry: r.Retry, AttemptTimeout: httpx.DefaultTimeout},
	}
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
