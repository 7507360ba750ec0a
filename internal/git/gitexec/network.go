package gitexec

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

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

// progressEvery is how often the size of a download is looked at.
const progressEvery = 100 * time.Millisecond

// prepare writes the private files that hand over what must not stand in
// arguments. Further calls do nothing.
func (r *Repository) prepare() error {
	if r.network != nil {
		return nil
	}
	r.network = &Network{
		Protocols:   r.Protocols,
		Direct:      r.Direct,
		PacketTrace: filepath.Join(r.Scratch, "packets"),
		Floor:       &r.Floor,
		Idle:        idle,
	}
	r.secrets = slices.Clone(r.Secrets)
	if r.SSHKey != nil {
		r.network.SSHKeyFile = filepath.Join(r.Scratch, "key")
		if err := os.WriteFile(r.network.SSHKeyFile, r.SSHKey, 0o600); err != nil {
			return err
		}
	}
	return r.writeConfig()
}

// writeConfig writes the settings for git that depend on the remote.
func (r *Repository) writeConfig() error {
	if scheme := r.URL.Scheme; scheme != "https" && scheme != "http" {
		return nil
	}
	// What the user has for this very URL would count more than the setting for
	// all, with which every command is run.
	config := fmt.Sprintf("[http %s]\n\tfollowRedirects = false\n", configQuote(r.remote()))
	if r.moved != nil && !httpx.SameOrigin(r.moved, r.URL) {
		// Headers that are for all servers may hold credentials, and this server
		// was chosen by another one.
		config += "[http]\n\textraHeader =\n"
	}
	credentials, err := r.credentials()
	if err != nil {
		return err
	}
	r.network.ConfigFile = filepath.Join(r.Scratch, "config")
	return os.WriteFile(r.network.ConfigFile, []byte(config+credentials), 0o600)
}

// credentialHelper is a command for the shell that git runs. The credentials are in
// its environment, neither in arguments nor on disk. Git's own comparison of hosts
// takes "example.com." for "example.com", so the helper compares the origin exactly.
const credentialHelper = `!f() { test "$1" = get || return 0; ` +
	`while IFS== read -r key value; do case $key in protocol) protocol=$value;; host) host=$value;; esac; done; ` +
	`test "$protocol://$host" = "$COTTER_GIT_ORIGIN" || return 0; ` +
	`printf 'username=%s\npassword=%s\n' "$COTTER_GIT_USERNAME" "$COTTER_GIT_PASSWORD"; }; f`

// credentials are the settings that hand the userinfo of an address to git as a
// credential helper would, for the address's origin alone. In the URL it would
// show in the arguments of git and of its children.
func (r *Repository) credentials() (config string, err error) {
	if r.User == nil {
		return "", nil
	}
	origin := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}
	config = fmt.Sprintf("[credential %s]\n\tuseHttpPath = false\n", configQuote(origin.String()))
	name := r.User.Username()
	password, ok := r.User.Password()
	if strings.ContainsAny(name+password, "\n\x00") {
		return "", errors.New("git takes no user name or password with a line break")
	}
	if ok || r.emptyPassword {
		r.network.Secrets = []string{"COTTER_GIT_ORIGIN=" + origin.String(), "COTTER_GIT_USERNAME=" + name, "COTTER_GIT_PASSWORD=" + password}
		// The empty value drops the user's own helpers: the address is more
		// particular than they are.
		config += "\thelper =\n\thelper = " + configQuote(credentialHelper) + "\n"
		if password != "" {
			r.secrets = append(r.secrets, password)
		}
	}
	// Without a password the name may well be a token.
	r.secrets = append(r.secrets, name)
	config += "\tusername = " + configQuote(name) + "\n"
	return config, nil
}

// wantsEmptyPassword reports whether the address has a user, most often a token,
// and no password, and git has not been given the empty one yet. It comes last:
// a helper or an askpass program of the user's may know a password for that user.
func (r *Repository) wantsEmptyPassword() bool {
	if r.User == nil || r.emptyPassword {
		return false
	}
	_, has := r.User.Password()
	return !has
}

// configQuote quotes a value, or a subsection, of a git configuration file.
func configQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// fetchRefs runs one git fetch into the store.
func (r *Repository) fetchRefs(ctx context.Context, options []string, refspecs ...string) error {
	if err := os.Remove(r.network.PacketTrace); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := append([]string{"fetch", "--progress", "--no-tags"}, options...)
	fetch := func() Command {
		return r.command(slices.Concat(args, []string{"--end-of-options", r.remote()}, refspecs)...)
	}
	ctx, stop := r.watchDownload(ctx)
	err := r.talk(ctx, fetch, func(c Command) error { return r.Git.Run(ctx, c) })
	if tooLarge := stop(); tooLarge != nil {
		return tooLarge
	}
	return err
}

// command is a run of git in the store, with the network.
func (r *Repository) command(args ...string) Command {
	return Command{Args: args, Repo: r.store.dir, Network: r.network, Secrets: r.secrets, Hold: r.store.held}
}

// watchDownload follows the growth of the store, to report it and to stop a
// fetch that brings too much: git itself has no limit. The function that it
// returns ends that.
func (r *Repository) watchDownload(ctx context.Context) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := r.MaxBytes
	before := r.store.packBytes()
	look := func() error {
		size := max(0, r.store.packBytes()-before)
		if size > limit {
			return fmt.Errorf("%w: git transferred more than %d bytes", git.ErrTooLarge, limit)
		}
		if r.Progress != nil && size > 0 {
			r.Progress(size)
		}
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
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
