package getmodules

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

type gitAddress struct {
	// remote is the URL for git, without gitArguments, and without credentials that git can get in another
	// way.
	remote url.URL
	// target is the remote, or what the user's git configuration replaces it with.
	target gitexec.Target
	// user is the userinfo of an http or https address, or of the setting that replaces it.
	user *url.Userinfo
	// ref is the first "ref" argument; "" means HEAD.
	ref string
	// secrets are the values of the arguments in remote, which may be tokens.
	secrets []string
	sshKey  []byte
	// protocols are the allowed transports; direct are others for URLs of the user's git configuration, but
	// not for redirects.
	protocols, direct []string
}

// gitArguments are not sent to the remote. Stock tools do not pass ref, depth and sshkey to git either, and
// handle archive and checksum before. version is a constraint, which was resolved to a ref.
var gitArguments = [...]string{"ref", "depth", "sshkey", "archive", "checksum", "version"}

// maxSSHKey is in bytes. A 16384 bit RSA key takes 13 KiB.
const maxSSHKey = 64 << 10

func parseGitAddress(req Request) (gitAddress, error) {
	at, err := req.Package.Location()
	if err != nil {
		return gitAddress{}, err
	}
	u := at.URL()
	if u.Fragment != "" {
		return gitAddress{}, errors.New("a git address has no fragment; a ref is given by ?ref=")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return gitAddress{}, errors.New("the query of the git address is malformed")
	}
	a := gitAddress{remote: *u, protocols: gitProtocols(req, u)}
	if err := git.CheckURL(u, a.protocols); err != nil {
		return gitAddress{}, err
	}
	if i := slices.Index(a.protocols, "http"); i >= 0 && u.Scheme == "https" {
		// A server must not redirect from https to http, but the user's git configuration may.
		a.protocols, a.direct = slices.Delete(a.protocols, i, i+1), []string{"http"}
	}
	if a.ref, err = gitRef(query.Get("ref")); err != nil {
		return gitAddress{}, err
	}
	if a.sshKey, err = decodeSSHKey(query.Get("sshkey")); err != nil {
		return gitAddress{}, err
	}
	for _, name := range gitArguments {
		query.Del(name)
	}
	for _, values := range query {
		a.secrets = append(a.secrets, values...)
	}
	a.remote.RawQuery = query.Encode()
	a.remote.ForceQuery = false
	switch u.Scheme {
	case "ssh":
		// The user name is not a secret. ssh never reads the password.
		if u.User != nil {
			a.remote.User = url.User(u.User.Username())
		}
	default:
		a.user, a.remote.User = u.User, nil
	}
	a.target = gitexec.Target{URL: &a.remote, Remote: a.remote.String()}
	return a, nil
}

// replace applies the user's url.<base>.insteadOf. The place is judged like one that the package points to. The
// limits for servers and packages apply if the setting does not name its host.
func (a *gitAddress) replace(ctx context.Context, req Request, program *gitexec.Git) error {
	settings, err := program.Settings(ctx, a.target.Remote)
	if err != nil {
		return err
	}
	target, err := settings.Target(&a.remote)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefusedLocation, err)
	}
	if target.Setting == "" {
		return nil
	}
	pkg := addrs.ParseModulePackage("git::" + target.URL.String())
	if err := git.CheckURL(target.URL, slices.Concat(a.protocols, a.direct)); err != nil {
		return fmt.Errorf("%w: %s, because of git's setting %s: %w", ErrRefusedLocation, pkg.Redacted(), target.Setting, err)
	}
	if !target.NamesHost {
		at := req
		at.Package = pkg
		if err := checkLocation(ctx, at); err != nil {
			return fmt.Errorf("it is replaced by %s, because of git's setting %s: %w", pkg.Redacted(), target.Setting, err)
		}
	}
	if req.Allow != nil {
		if err := req.Allow(pkg); err != nil {
			return fmt.Errorf("it is replaced by %s, because of git's setting %s: %w", pkg.Redacted(), target.Setting, err)
		}
	}
	if target.User != nil || !httpx.SameOrigin(target.URL, &a.remote) {
		a.user = target.User
	}
	a.target = target
	return nil
}

// isByUser reports whether the root module, or a setting that replaces the address, names the host with its
// port. Only then may credentials for all hosts be sent to it.
func (a *gitAddress) isByUser(ctx context.Context, req Request) bool {
	return a.target.NamesHost || !req.FromServer && !req.FromPackage || httpx.NamedBy(ctx, a.target.URL) != httpx.NotNamed
}

// limited returns the context for requests. The limits for servers and packages do not apply to a host that a
// setting of the user has named.
func (a *gitAddress) limited(ctx context.Context) context.Context {
	if a.target.NamesHost {
		return httpx.WithoutPointer(ctx)
	}
	return ctx
}

// allowsPlainCredentials allows http for the address's own credentials, within this machine, and if the
// user chose it.
func (a *gitAddress) allowsPlainCredentials(byUser bool) bool {
	return a.user != nil || byUser || hostname.IsLoopback(a.target.URL)
}

// gitProtocols allows a server's answer only https and ssh, and http from this machine to this machine.
// Only the user's own configuration may name local repositories.
func gitProtocols(req Request, u *url.URL) []string {
	switch {
	case req.FromServer:
		if origin, err := url.Parse(req.Origin); err == nil && hostname.IsLoopback(origin) && hostname.IsLoopback(u) {
			return []string{"https", "ssh", "http"}
		}
		return []string{"https", "ssh"}
	case req.FromPackage:
		return []string{"https", "ssh", "http", "git"}
	}
	return []string{"https", "ssh", "http", "git", "file"}
}

// gitRef accepts object names in upper case, like git.
func gitRef(ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	if err := git.CheckRef(ref); err != nil {
		if strings.Contains(ref, " ") {
			return "", fmt.Errorf("%q cannot be a git ref: %w; a \"+\" in the arguments of an address means a space: write \"%%2B\" for a \"+\"", ref, err)
		}
		return "", fmt.Errorf("%q cannot be a git ref: %w", ref, err)
	}
	if lower := strings.ToLower(ref); git.IsObjectID(lower) {
		return lower, nil
	}
	return ref, nil
}

// decodeSSHKey allows for an unescaped "+", which parsing the query has turned into a space.
func decodeSSHKey(arg string) ([]byte, error) {
	if arg == "" {
		return nil, nil
	}
	if len(arg) > maxSSHKey {
		return nil, fmt.Errorf("the sshkey argument is longer than %d bytes", maxSSHKey)
	}
	key, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(arg, " ", "+"))
	if err != nil {
		// The decoder's error contains a position in the secret.
		return nil, errors.New("the sshkey argument is not base64")
	}
	return key, nil
}

// identity names the repository independently of the user.
func (a gitAddress) identity() string {
	u := a.remote
	u.User = nil
	return u.String()
}

// resolved redacts the values of other arguments, which may be secrets.
func (a gitAddress) resolved(commit string) addrs.ModulePackage {
	u := a.remote
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "ref=" + commit
	return addrs.ParseModulePackage(addrs.Redact("git::" + u.String()))
}
