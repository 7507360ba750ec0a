package gitexec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const progressEvery = 100 * time.Millisecond

// prepare writes private files for what must not appear in arguments, once.
func (r *Repository) prepare(ctx context.Context) error {
	if r.network != nil {
		return nil
	}
	r.network = &Network{
		Remote:      r.Remote,
		Protocols:   r.Protocols,
		Direct:      r.Direct,
		PacketTrace: filepath.Join(r.Scratch, "packets"),
		Floor:       &r.Floor,
		Idle:        idle,
	}
	if moved, ok := r.Git.moved.Load(httpx.Share(ctx, r.URL.String())); ok {
		r.moved, _ = moved.(*url.URL)
	}
	r.secrets = slices.Clone(r.Secrets)
	if r.SSHKey != nil {
		r.network.SSHKeyFile = filepath.Join(r.Scratch, "key")
		if err := os.WriteFile(r.network.SSHKeyFile, r.SSHKey, 0o600); err != nil {
			return err
		}
	}
	return r.writeConfig(ctx)
}

func (r *Repository) writeConfig(ctx context.Context) error {
	settings, err := r.Git.Settings(ctx, r.Remote)
	if err != nil {
		return err
	}
	pinned, err := r.checkReach(ctx, settings)
	if err != nil {
		return err
	}
	config := ""
	if _, replaced := settings.insteadOf(r.remote()); replaced {
		// The policy has judged this address. Git must not replace it, or replace it again.
		config += fmt.Sprintf("[url %[1]s]\n\tinsteadOf = %[1]s\n", configQuote(r.remote()))
	}
	if r.URL.Scheme == "https" || r.URL.Scheme == "http" {
		ofHTTP, err := r.configForHTTP(settings)
		if err != nil {
			return err
		}
		config += ofHTTP + pinned
	}
	if config == "" {
		return nil
	}
	r.network.ConfigFile = filepath.Join(r.Scratch, "config")
	return os.WriteFile(r.network.ConfigFile, []byte(config), 0o600)
}

// checkReach returns an *[httpx.DeniedError] if a server or a package has named the remote, and its host
// leads to where they must not point. The setting makes git (from 2.37) connect to the accepted addresses. If git
// uses a proxy, that resolves the name.
func (r *Repository) checkReach(ctx context.Context, settings *Settings) (setting string, err error) {
	at := r.URL
	if r.moved != nil {
		ctx, at = httpx.PointedToHost(ctx, r.URL, r.moved), r.moved
	}
	host := at.Hostname()
	switch at.Scheme {
	case "ssh":
		d, err := r.Git.newSSHDial(ctx, Target{URL: r.URL, Home: r.Home, Remote: r.Remote}, r.network.SSHKeyFile)
		if err != nil {
			return "", err
		}
		return "", d.check(ctx)
	case "https", "http":
		proxies := proxiesOf(r.Git.Environ(), settings.For(at, r.Named).Connection)
		proxy, err := proxies.config.ProxyFunc()(at)
		if proxy != nil || err != nil {
			return "", nil //nolint:nilerr // git reports the error
		}
	}
	found, err := httpx.CheckResolved(ctx, at, host)
	if _, literal := netip.ParseAddr(host); err != nil || len(found) == 0 || literal == nil || settings.resolves() {
		return "", err
	}
	var addresses []string
	for _, addr := range found {
		text := addr.String()
		if addr.Is6() {
			text = "[" + text + "]"
		}
		addresses = append(addresses, text)
	}
	_, port, err := net.SplitHostPort(httpx.HostPort(at))
	return fmt.Sprintf("[http]\n\tcurloptResolve = %s\n", configQuote(host+":"+port+":"+strings.Join(addresses, ","))), err
}

// WithheldError says that git was not run, because it would show a client certificate that the user has
// set for no URL to a host that only a package or a server names.
type WithheldError struct {
	Host, Setting string
}

func (e *WithheldError) Error() string {
	return fmt.Sprintf("git is not run for %s, because %s is set for all hosts, and only a package or a server names this one", e.Host, e.Setting)
}

func (r *Repository) configForHTTP(settings *Settings) (string, error) {
	// The user's settings for this URL would take precedence over the general one.
	config := fmt.Sprintf("[http %s]\n\tfollowRedirects = false\n", configQuote(r.remote()))
	at, named := r.URL, r.Named
	if r.moved != nil {
		at, named = r.moved, r.Named && httpx.SameOrigin(r.moved, r.URL)
	}
	r.network.Secrets = nil
	credentials, err := r.credentials()
	if err != nil {
		return "", err
	}
	if at.Scheme == "http" && !r.PlainCredentials {
		config += fmt.Sprintf("[credential %s]\n\thelper =\n", configQuote("http://"+at.Host))
		r.network.Secrets = append(r.network.Secrets, "GIT_ASKPASS=")
	}
	applied, all := settings.For(at, named), settings.For(at, true)
	if applied.Connection != all.Connection {
		return "", &WithheldError{Host: at.Host, Setting: applied.Withheld}
	}
	if !slices.Equal(applied.Header, all.Header) {
		r.network.Secrets = append(r.network.Secrets, r.Git.withHeader(at, applied.Header))
	}
	return config + credentials, nil
}

// withHeader returns a variable with which git sends only these lines to a URL. They must not be on disk.
func (g *Git) withHeader(at *url.URL, header []string) string {
	// Git splits a setting at its first "=". The user's settings for a longer path would not be replaced.
	pattern := at.String()
	if before, _, found := strings.Cut(pattern, "="); found {
		pattern = before[:strings.LastIndexByte(before, '/')+1]
	}
	text := g.Getenv("GIT_CONFIG_PARAMETERS")
	for _, line := range append([]string{""}, header...) {
		text += " " + shellQuote("http."+pattern+".extraheader="+line)
	}
	return "GIT_CONFIG_PARAMETERS=" + strings.TrimSpace(text)
}

// credentialHelper runs in a shell. It compares the origin exactly, because git treats "example.com."
// and "example.com" as the same host.
const credentialHelper = `!f() { test "$1" = get || return 0; ` +
	`while IFS== read -r key value; do case $key in protocol) protocol=$value;; host) host=$value;; esac; done; ` +
	`test "$protocol://$host" = "$COTTER_GIT_ORIGIN" || return 0; ` +
	`printf 'username=%s\npassword=%s\n' "$COTTER_GIT_USERNAME" "$COTTER_GIT_PASSWORD"; }; f`

// credentials returns the settings that pass the userinfo of an address to git, for its origin only. In
// the URL, it would be visible in arguments.
func (r *Repository) credentials() (config string, err error) {
	if r.User == nil {
		return "", nil
	}
	origin := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}
	config = fmt.Sprintf("[credential %s]\n\tuseHttpPath = false\n", configQuote(origin.String()))
	name := r.User.Username()
	password, ok := r.User.Password()
	if strings.ContainsAny(name+password, "\n\x00") {
		return "", errors.New("git does not accept a user name or password with a line break")
	}
	if ok || r.emptyPassword {
		r.network.Secrets = []string{"COTTER_GIT_ORIGIN=" + origin.String(), "COTTER_GIT_USERNAME=" + name, "COTTER_GIT_PASSWORD=" + password}
		// The empty value disables the user's own helpers.
		config += "\thelper =\n\thelper = " + configQuote(credentialHelper) + "\n"
		if password != "" {
			r.secrets = append(r.secrets, password)
		}
	}
	// If there is no password, the user name may be a token.
	r.secrets = append(r.secrets, name)
	config += "\tusername = " + configQuote(name) + "\n"
	return config, nil
}

// wantsEmptyPassword reports whether to try the user of the address, often a token, without a password.
// That comes last, because a helper may know a password for the user.
func (r *Repository) wantsEmptyPassword() bool {
	if r.User == nil || r.emptyPassword {
		return false
	}
	_, has := r.User.Password()
	return !has
}

func configQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (r *Repository) fetchRefs(ctx context.Context, options []string, refspecs ...string) error {
	err := r.fetchRefsOnce(ctx, options, refspecs)
	if !says(err, saysDumb) {
		return err
	}
	// A file server can only send whole files, so the whole history is transferred, as by stock tools.
	r.store.dumb = true
	whole := slices.DeleteFunc(slices.Clone(options), func(option string) bool {
		return strings.HasPrefix(option, "--depth=") || strings.HasPrefix(option, "--filter=") || option == "--update-shallow"
	})
	return r.fetchRefsOnce(ctx, whole, refspecs)
}

func (r *Repository) fetchRefsOnce(ctx context.Context, options, refspecs []string) error {
	args := append([]string{"fetch", "--progress", "--no-tags"}, options...)
	fetch := func() Command {
		return r.command(slices.Concat(args, []string{"--end-of-options", r.remote()}, refspecs)...)
	}
	ctx, stop, err := r.watch(ctx)
	if err != nil {
		return err
	}
	err = r.talk(ctx, fetch, func(c Command) error { return r.Git.Run(ctx, c) })
	if tooLarge := stop(); tooLarge != nil {
		return tooLarge
	}
	return err
}

func (r *Repository) command(args ...string) Command {
	return Command{Args: args, Repo: r.store.dir, Network: r.network, Secrets: r.secrets}
}

// maxTrace bounds the packet trace, in bytes. A ref takes about 140. Messages of the server are in it too, but packs are not.
const maxTrace = 2 * git.MaxRefBytes

// watch stops a git that transfers too much, alone or for the run of ctx, or is sent too many refs, because git itself has
// no limits, and reports the progress. The returned function ends this, and returns an error if a limit is exceeded.
func (r *Repository) watch(ctx context.Context) (context.Context, func() error, error) {
	if err := os.Remove(r.network.PacketTrace); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	limit := r.MaxBytes
	before := r.store.packBytes()
	disk, counted := packagelimits.DiskOf(ctx), int64(0)
	look := func() error {
		size := max(0, r.store.packBytes()-before)
		if size > limit {
			return fmt.Errorf("%w: %w", git.ErrTooLarge, &packagelimits.Error{Limit: packagelimits.OfDownload, Max: limit})
		}
		if err := disk.Grown(&counted, size); err != nil {
			return err
		}
		if info, err := os.Stat(r.network.PacketTrace); err == nil && info.Size() > maxTrace {
			return fmt.Errorf("%w: the server sent more than %d MiB of refs and messages", git.ErrTooLarge, maxTrace>>20)
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
	}, nil
}
