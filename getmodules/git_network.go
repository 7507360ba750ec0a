package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/httpx"
)

// gitIdle is how long git may be silent while it fetches. It reports progress
// every second, and servers send a sign of life every five.
const gitIdle = 2 * time.Minute

// gitProgressEvery is how often the size of a download is looked at.
const gitProgressEvery = 100 * time.Millisecond

// prepareNetwork writes the private files that hand over what must not stand
// in arguments.
func (g *gitFetch) prepareNetwork() error {
	g.network = gitexec.Network{
		Protocols:   g.addr.protocols,
		Direct:      g.addr.direct,
		PacketTrace: filepath.Join(g.scratch, "packets"),
		Floor:       &g.floor,
		Idle:        gitIdle,
	}
	g.secrets = append(g.secrets, g.addr.secrets...)
	if g.addr.sshKey != nil {
		g.network.SSHKeyFile = filepath.Join(g.scratch, "key")
		if err := os.WriteFile(g.network.SSHKeyFile, g.addr.sshKey, 0o600); err != nil {
			return err
		}
	}
	return g.writeConfig()
}

// writeConfig writes the settings for git that depend on the remote.
func (g *gitFetch) writeConfig() error {
	if scheme := g.addr.remote.Scheme; scheme != "https" && scheme != "http" {
		return nil
	}
	// What the user has for this very URL would count more than the setting for
	// all, with which every command is run.
	config := fmt.Sprintf("[http %s]\n\tfollowRedirects = false\n", configQuote(g.remote()))
	if g.moved != nil && !httpx.SameOrigin(g.moved, &g.addr.remote) {
		// Headers that are for all servers may hold credentials, and this server
		// was chosen by another one.
		config += "[http]\n\textraHeader =\n"
	}
	credentials, err := g.credentials()
	if err != nil {
		return err
	}
	g.network.ConfigFile = filepath.Join(g.scratch, "config")
	return os.WriteFile(g.network.ConfigFile, []byte(config+credentials), 0o600)
}

// credentials are the settings that hand the userinfo of an address to git as a
// credential helper would, for the address's origin alone. In the URL it would
// show in the arguments of git and of its children.
func (g *gitFetch) credentials() (config string, err error) {
	if g.addr.user == nil {
		return "", nil
	}
	origin := url.URL{Scheme: g.addr.remote.Scheme, Host: g.addr.remote.Host}
	config = fmt.Sprintf("[credential %s]\n\tuseHttpPath = false\n", configQuote(origin.String()))
	name := g.addr.user.Username()
	password, ok := g.addr.user.Password()
	if ok || g.emptyPassword {
		file := filepath.Join(g.scratch, "credentials")
		origin.User = url.UserPassword(name, password)
		if err := os.WriteFile(file, []byte(origin.String()+"\n"), 0o600); err != nil {
			return "", err
		}
		// The empty value drops the user's own helpers: the address is more
		// particular than they are.
		config += "\thelper =\n\thelper = " + configQuote("store --file="+shellPath(file)) + "\n"
		if password != "" {
			g.secrets = append(g.secrets, password)
		}
	}
	// Without a password the name may well be a token.
	g.secrets = append(g.secrets, name)
	config += "\tusername = " + configQuote(name) + "\n"
	return config, nil
}

// wantsEmptyPassword reports whether the address has a user, most often a token,
// and no password, and git has not been given the empty one yet. It comes last:
// a helper or an askpass program of the user's may know a password for that user.
func (g *gitFetch) wantsEmptyPassword() bool {
	if g.addr.user == nil || g.emptyPassword {
		return false
	}
	_, has := g.addr.user.Password()
	return !has
}

// configQuote quotes a value, or a subsection, of a git configuration file.
func configQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// shellPath quotes a path for the shell that runs credential helpers.
func shellPath(path string) string {
	return "'" + strings.ReplaceAll(filepath.ToSlash(path), "'", `'\''`) + "'"
}

// Options that say how much a fetch brings.
const (
	gitOneCommit = "--depth=1"
	// gitAllHistory is git's own number for infinity. Unlike --unshallow it
	// also works where there is nothing to unshallow.
	gitAllHistory = "--depth=2147483647"
	// gitOnlyCommits leaves out all trees and files. Servers that cannot do
	// that send them all the same.
	gitOnlyCommits = "--filter=tree:0"
)

// fetchRefs runs one git fetch into the store.
func (g *gitFetch) fetchRefs(ctx context.Context, options []string, refspecs ...string) error {
	if err := os.Remove(g.network.PacketTrace); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := append([]string{"fetch", "--progress", "--no-tags"}, options...)
	fetch := func() gitexec.Command {
		return g.command(slices.Concat(args, []string{"--end-of-options", g.remote()}, refspecs)...)
	}
	ctx, stop := g.watchDownload(ctx)
	err := g.talk(ctx, fetch, func(c gitexec.Command) error { return g.git.Run(ctx, c) })
	if tooLarge := stop(); tooLarge != nil {
		return tooLarge
	}
	return err
}

// command is a run of git in the store, with the network.
func (g *gitFetch) command(args ...string) gitexec.Command {
	return gitexec.Command{Args: args, Repo: g.store.dir, Network: &g.network, Secrets: g.secrets, Hold: g.store.held}
}

// watchDownload follows the growth of the store, to report it and to stop a
// fetch that brings too much: git itself has no limit. The function that it
// returns ends that.
func (g *gitFetch) watchDownload(ctx context.Context) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := g.limits.download()
	before := g.store.packBytes()
	look := func() error {
		size := max(0, g.store.packBytes()-before)
		if size > limit {
			return fmt.Errorf("%w: git transferred more than %d bytes", ErrTooLarge, limit)
		}
		if g.req.Progress != nil && size > 0 {
			g.req.Progress(size, 0)
		}
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(gitProgressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := look(); err != nil {
					cancel(err)
				}
			}
		}
	}()
	return ctx, func() error {
		cancel(nil)
		<-done
		return look()
	}
}
