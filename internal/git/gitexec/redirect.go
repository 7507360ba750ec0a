package gitexec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	maxRedirects = 5
	// maxLocation bounds the length of an address that a server names, in bytes.
	maxLocation = 8 << 10
)

// remote returns the URL to pass to git: the URL of the repository, or the URL that the server
// redirected to.
func (r *Repository) remote() string {
	if r.moved != nil {
		return r.moved.String()
	}
	return r.URL.String()
}

// talk runs a command that connects to the remote. It retries failures that may be temporary,
// and runs the command again with another remote after a redirect. command must use the URL
// that remote returns at the time of each call.
func (r *Repository) talk(ctx context.Context, command func() Command, run func(Command) error) error {
	for hops := 0; ; hops++ {
		err := r.retry(ctx, func() error { return run(command()) })
		if says(err, saysNoPassword) && r.wantsEmptyPassword() {
			r.emptyPassword = true
			if err := r.writeConfig(); err != nil {
				return err
			}
			err = r.retry(ctx, func() error { return run(command()) })
		}
		if !says(err, saysRedirect) {
			return err
		}
		next, failed := r.nextRemote(ctx)
		switch {
		case failed != nil:
			return failed
		case next == nil:
			return err
		case hops == maxRedirects:
			return fmt.Errorf("%w: more than %d redirects", git.ErrRefused, maxRedirects)
		}
		r.moved = next
		if err := r.writeConfig(); err != nil {
			return err
		}
	}
}

// nextRemote returns the URL that the server redirects the repository to. It returns nil if
// that cannot be determined, or if the user disabled redirects.
func (r *Repository) nextRemote(ctx context.Context) (*url.URL, error) {
	settings, err := r.Git.HTTPSettings(ctx)
	if err != nil || !settings.followsRedirects(r.URL) {
		return nil, err
	}
	// The user's url.<base>.insteadOf may make git contact another server.
	out, err := r.Git.Output(ctx, r.command("ls-remote", "--get-url", "--end-of-options", r.remote()), 2*maxLocation)
	if err != nil {
		return nil, err
	}
	asked, err := url.Parse(strings.TrimSuffix(string(out), "\n"))
	if err != nil || asked.Scheme != "https" && asked.Scheme != "http" {
		return nil, nil
	}
	network := *r.network
	network.HTTPTrace = filepath.Join(r.Scratch, "headers")
	ask := r.command("ls-remote", "--end-of-options", r.remote(), "HEAD")
	ask.Network = &network
	// The command fails because of the redirect, like the one before.
	if _, err := r.Git.Output(ctx, ask, maxListing); err != nil && isCancelled(err) {
		return nil, err
	}
	location, err := lastLocation(network.HTTPTrace)
	if err != nil || location == "" {
		return nil, err
	}
	return redirectedRepository(ctx, asked, location)
}

// lastLocation returns the last Location header in git's trace file, and removes the file.
func lastLocation(trace string) (location string, err error) {
	file, err := os.Open(trace)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(trace)) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8*maxLocation)
	for lines.Scan() {
		_, header, ok := strings.Cut(lines.Text(), "<= Recv header: ")
		if !ok {
			continue
		}
		if name, value, _ := strings.Cut(header, ":"); strings.EqualFold(name, "location") {
			location = strings.TrimSpace(value)
		}
	}
	return location, lines.Err()
}

// redirectedRepository returns the URL of the repository that a redirect of the request for its
// list of refs points to. As in git, the URLs of both requests must end in the same way.
func redirectedRepository(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
	repository := strings.TrimSuffix(from.String(), "/")
	end := "/info/refs?service=git-upload-pack"
	if from.RawQuery != "" {
		end = "/info/refs&service=git-upload-pack"
	}
	asked, err := url.Parse(repository + end)
	if err != nil {
		return nil, err
	}
	asked.User = nil
	to, err := httpx.Redirect(ctx, asked, location)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", git.ErrRefused, err)
	}
	base, ok := strings.CutSuffix(to.String(), end)
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
