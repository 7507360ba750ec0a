package gitexec

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

func (r *Repository) remote() string {
	if r.moved != nil {
		return r.moved.String()
	}
	return Target{URL: r.URL, Home: r.Home}.Text()
}

// talk runs a command that connects to the remote, and retries temporary failures. Git follows no redirects,
// so its own first request shows whether there is one. Only then the final URL is searched by requests of package
// httpx, and remembered for the run. command must use remote at the time of each call.
func (r *Repository) talk(ctx context.Context, command func() Command, run func(Command) error) error {
	attempt := func() error {
		err := r.retry(ctx, func() error { return run(command()) })
		if !says(err, saysNoPassword) || !r.wantsEmptyPassword() {
			return err
		}
		r.emptyPassword = true
		if err := r.writeConfig(ctx); err != nil {
			return err
		}
		return r.retry(ctx, func() error { return run(command()) })
	}
	err := attempt()
	if !isRedirect(err) {
		return err
	}
	moved, failed := r.locate(ctx)
	switch _, failedRequest := errors.AsType[*httpx.NetworkError](failed); {
	case failedRequest:
		return fmt.Errorf("%w; the request to find the URL that it redirects to failed: %w", err, failed)
	case failed != nil:
		return failed
	case moved == nil:
		return err
	}
	r.moved = moved
	if err := r.writeConfig(ctx); err != nil {
		return err
	}
	r.Git.moved.Store(httpx.Share(ctx, r.URL.String()), moved)
	return attempt()
}

// locate returns nil if there is no redirect for these requests.
func (r *Repository) locate(ctx context.Context) (*url.URL, error) {
	if r.URL.Scheme != "https" && r.URL.Scheme != "http" || r.URL.RawQuery != "" {
		return nil, nil
	}
	settings, err := r.Git.Settings(ctx, r.Remote)
	if err != nil {
		return nil, err
	}
	user := r.User
	if r.emptyPassword {
		user = url.UserPassword(user.Username(), "")
	}
	requests := &Requests{
		Git: r.Git, Settings: settings, Repository: r.URL, User: user, Named: r.Named, PlainCredentials: r.PlainCredentials,
		Client: &httpx.Client{Retry: r.Retry, AttemptTimeout: httpx.DefaultTimeout},
	}
	if err := requests.Open(); err != nil {
		if only, ok := errors.AsType[*SettingError](err); ok {
			err = fmt.Errorf("the server redirects to another URL, which is not used because of git's setting %s; use that URL in the address", only.Name)
		}
		return nil, err
	}
	moved, err := (&gitwire.HTTP{RoundTripper: requests, Repository: r.URL}).Locate(ctx)
	if moved == nil || err != nil {
		return nil, err
	}
	if err := git.CheckURL(moved, []string{"https", "http"}); err != nil {
		return nil, fmt.Errorf("%w: the redirect to %q: %w", git.ErrRefused, addrs.Redact(moved.String()), err)
	}
	return moved, nil
}
