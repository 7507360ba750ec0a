package gitexec

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// Requests sends the http requests for one repository as git would, by the user's settings for each URL. It
// follows no redirects. Credentials are sent if the address has them or the server demands them. They, and headers
// that name no URL, go only to the origin of the repository, and to no one after a redirect to another one.
type Requests struct {
	Git      *Git
	Settings *Settings
	// Repository has no credentials.
	Repository *url.URL
	// User is from the address. A password is sent with every request.
	User *url.Userinfo
	// Named says that the root module names the host.
	Named bool
	// PlainCredentials allows credentials by http, which everybody on the way can read.
	PlainCredentials bool
	// Client gets the transport that the settings require.
	Client *httpx.Client

	left   atomic.Bool // a request went to another origin
	inVain atomic.Bool
}

// SettingError says that the user has a setting that only git can apply. Without it, a request could reach
// another server.
type SettingError struct{ Name string }

func (e *SettingError) Error() string { return "git has a setting for it: " + e.Name }

// Open returns a *[SettingError], or an error about certificates, before the first request.
func (r *Requests) Open() error {
	h := r.at(r.Repository)
	if h.OnlyGit != "" {
		return &SettingError{h.OnlyGit}
	}
	_, err := r.Git.transport(h.Connection)
	return err
}

// isAtOrigin is false after a request to another origin: a server must not send credentials where it likes.
func (r *Requests) isAtOrigin(u *url.URL) bool {
	if !httpx.SameOrigin(u, r.Repository) {
		r.left.Store(true)
	}
	return !r.left.Load()
}

func (r *Requests) at(u *url.URL) HTTP { return r.Settings.For(u, r.Named && r.isAtOrigin(u)) }

// do gives package httpx the transport itself, because it judges the addresses that connections reach.
func (r *Requests) do(req *http.Request, h HTTP) (*http.Response, error) {
	if h.OnlyGit != "" {
		return nil, &SettingError{h.OnlyGit}
	}
	transport, err := r.Git.transport(h.Connection)
	if err != nil {
		return nil, err
	}
	client := *r.Client
	client.HTTP, client.MaxRedirects = &http.Client{Transport: transport}, 0
	answer, err := client.RoundTrip(req)
	r.inVain.Store(err != nil || answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests)
	if err == nil && h.StaysAtRedirects && answer.StatusCode/100 == 3 {
		return nil, errors.Join(errRedirects, answer.Body.Close())
	}
	return answer, err
}

// InVain reports whether Client has sent the last request as often as it may, without an answer that is of use.
func (r *Requests) InVain() bool { return r.inVain.Load() }

var errRedirects = fmt.Errorf("%w: the server redirects, which git's setting http.followRedirects forbids", git.ErrRefused)

func (r *Requests) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	h := r.at(req.URL)
	req = req.Clone(ctx)
	if h.UserAgent != "" {
		req.Header.Set("User-Agent", h.UserAgent)
	}
	for _, line := range h.Header {
		name, value, _ := strings.Cut(line, ":")
		req.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	hasOwn := req.Header.Get("Authorization") != ""
	mayLogin := r.isAtOrigin(req.URL) && (r.Repository.Scheme == "https" || r.PlainCredentials)
	if !mayLogin || hasOwn {
		return r.do(req, h)
	}
	key := r.Settings.credentialKey(r.Repository, r.User.Username())
	used := r.known(ctx, key)
	answer, err := r.send(req, h, used)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || used != nil || !acceptsBasic(answer) {
		return r.judged(ctx, key, used, answer), err
	}
	_ = answer.Body.Close()
	found, err := r.Git.credentialsOf(ctx).Do(ctx, key, func(ctx context.Context) (*credential, error) {
		return r.Git.findCredential(ctx, r.Settings.remote, r.Repository, r.User.Username(), answer.Header)
	})
	if err != nil {
		return nil, err
	}
	if found.none {
		answer.Body = http.NoBody
		return answer, nil
	}
	if answer, err = r.send(req, h, found); err != nil {
		return nil, err
	}
	return r.judged(ctx, key, found, answer), nil
}

func (r *Requests) known(ctx context.Context, key credentialKey) *credential {
	if password, ok := r.User.Password(); ok {
		return &credential{user: r.User.Username(), password: password, inAddress: true}
	}
	if found, ok := r.Git.credentialsOf(ctx).Known(key); ok && !found.none {
		return found
	}
	return nil
}

func (r *Requests) send(req *http.Request, h HTTP, c *credential) (*http.Response, error) {
	attempt := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		attempt.Body = body
	}
	if c != nil {
		attempt.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.password)))
	}
	return r.do(attempt, h)
}

// judged tells the helpers what became of a credential that they have returned.
func (r *Requests) judged(ctx context.Context, key credentialKey, c *credential, answer *http.Response) *http.Response {
	switch {
	case c == nil || answer == nil:
	case answer.StatusCode == http.StatusUnauthorized && !c.inAddress:
		r.Git.credentialsOf(ctx).Set(key, &credential{none: true})
		r.Git.reject(ctx, c)
	case answer.StatusCode == http.StatusOK:
		answer.Body = &approvedBody{ReadCloser: answer.Body, wait: r.Git.approve(ctx, c)}
	}
	return answer
}

type approvedBody struct {
	io.ReadCloser
	wait func()
	once sync.Once
}

func (b *approvedBody) Close() error {
	b.once.Do(b.wait)
	return b.ReadCloser.Close()
}

func acceptsBasic(answer *http.Response) bool {
	return slices.ContainsFunc(answer.Header.Values("WWW-Authenticate"), func(challenge string) bool {
		scheme, _, _ := strings.Cut(challenge, " ")
		return strings.EqualFold(scheme, "basic")
	})
}
