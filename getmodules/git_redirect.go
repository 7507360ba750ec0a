package getmodules

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
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/httpx"
)

// gitRedirects is what git says of an answer that is a redirect, which it does not
// follow here: where servers may redirect to is decided by httpx.Redirect, and git
// asks that server then.
var gitRedirects = []string{
	"returned error: 301", "returned error: 302", "returned error: 303", "returned error: 307", "returned error: 308",
}

// remote is the URL of the repository to give to git: that of the address, or the
// one that the server redirected to.
func (g *gitFetch) remote() string {
	if g.moved != nil {
		return g.moved.String()
	}
	return g.addr.remote.String()
}

// talk runs a command that talks to the remote, again after failures that may
// pass, and again with another remote after a redirect. command must take the
// URL from remote each time.
func (g *gitFetch) talk(ctx context.Context, command func() gitexec.Command, run func(gitexec.Command) error) error {
	for hops := 0; ; hops++ {
		err := g.again(ctx, func() error { return run(command()) })
		if gitSays(err, gitNoPassword) && g.wantsEmptyPassword() {
			g.emptyPassword = true
			if err := g.writeConfig(); err != nil {
				return err
			}
			err = g.again(ctx, func() error { return run(command()) })
		}
		if !gitSays(err, gitRedirects) {
			return err
		}
		next, failed := g.nextRemote(ctx)
		switch {
		case failed != nil:
			return failed
		case next == nil:
			return err
		case hops == maxRedirects:
			return fmt.Errorf("%w: more than %d redirects", ErrRefusedLocation, maxRedirects)
		}
		g.moved = next
		if err := g.writeConfig(); err != nil {
			return err
		}
	}
}

// nextRemote finds where the server redirects the repository to. It returns nil if
// that cannot be found out, or the user does not want redirects to be followed.
func (g *gitFetch) nextRemote(ctx context.Context) (*url.URL, error) {
	settings, err := g.git.HTTPSettings(ctx)
	if err != nil || !settings.FollowsRedirects(&g.addr.remote) {
		return nil, err
	}
	// The user's url.<base>.insteadOf may have git ask another server.
	out, err := g.git.Output(ctx, g.command("ls-remote", "--get-url", "--end-of-options", g.remote()), 2*maxLocation)
	if err != nil {
		return nil, err
	}
	asked, err := url.Parse(strings.TrimSuffix(string(out), "\n"))
	if err != nil || asked.Scheme != "https" && asked.Scheme != "http" {
		return nil, nil
	}
	network := g.network
	network.HTTPTrace = filepath.Join(g.scratch, "headers")
	ask := g.command("ls-remote", "--end-of-options", g.remote(), "HEAD")
	ask.Network = &network
	// It fails by the redirect, as before.
	if _, err := g.git.Output(ctx, ask, maxRefListing); err != nil && isCancelled(err) {
		return nil, err
	}
	location, err := lastLocation(network.HTTPTrace)
	if err != nil || location == "" {
		return nil, err
	}
	return redirectedRepository(asked, location)
}

// lastLocation returns the last header Location in a trace of git's, and removes
// the trace.
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

// redirectedRepository returns the URL of the repository whose list of refs is
// where the request for that of another one is redirected to. By git's rules both
// requests must end alike.
func redirectedRepository(from *url.URL, location string) (*url.URL, error) {
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
	to, err := httpx.Redirect(asked, location)
	if err != nil {
		return nil, httpError(err)
	}
	base, ok := strings.CutSuffix(to.String(), end)
	if !ok {
		return nil, fmt.Errorf("%w: the redirect to %q does not lead to a repository", ErrRefusedLocation, addrs.Redact(to.String()))
	}
	next, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if err := git.CheckURL(next, []string{"https", "http"}); err != nil {
		return nil, fmt.Errorf("%w: the redirect to %q: %w", ErrRefusedLocation, addrs.Redact(base), err)
	}
	return next, nil
}
