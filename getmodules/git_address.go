package getmodules

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/netguard"
)

// gitAddress is a package address taken apart.
type gitAddress struct {
	// remote is what git is given: without our own arguments, and without
	// credentials where there is another way to hand them over.
	remote url.URL
	// user is the userinfo of an http or https address.
	user *url.Userinfo
	// ref is the first "ref" argument; "" means the remote's HEAD.
	ref string
	// secrets are the values of the remote's own arguments, which may be tokens.
	secrets []string
	// sshKey is a private key that the address holds; nil for none.
	sshKey []byte
	// protocols are the transports that the request may use, and direct those
	// that it may use beside them where no server points to them.
	protocols, direct []string
}

// gitArguments are the arguments of an address that are not the remote's.
// Stock tools keep ref, depth and sshkey from git, and act on archive and
// checksum before git is asked; version is a constraint that has led to the
// ref by now.
var gitArguments = [...]string{"ref", "depth", "sshkey", "archive", "checksum", "version"}

// maxSSHKey bounds a private key. A 16384 bit RSA key takes 13 KiB.
const maxSSHKey = 64 << 10

func parseGitAddress(req Request) (gitAddress, error) {
	u, err := req.Package.URL()
	if err != nil {
		return gitAddress{}, err
	}
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
		// No way leads from https to http, unless the user has laid it.
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
		// The name says who asks and is no secret; ssh never reads the
		// password, so it must not travel.
		if u.User != nil {
			a.remote.User = url.User(u.User.Username())
		}
	default:
		a.user, a.remote.User = u.User, nil
	}
	return a, nil
}

// gitProtocols are the transports that a request may use. A server's answer
// points to https and ssh only, but a server on this machine may also lead to
// plain http on this machine. Local repositories are for the user's own
// configuration.
func gitProtocols(req Request, u *url.URL) []string {
	switch {
	case req.FromServer:
		if origin, err := url.Parse(req.Origin); err == nil && netguard.IsLoopback(origin) && netguard.IsLoopback(u) {
			return []string{"https", "ssh", "http"}
		}
		return []string{"https", "ssh"}
	case req.FromPackage:
		return []string{"https", "ssh", "http", "git"}
	}
	return []string{"https", "ssh", "http", "git", "file"}
}

// gitRef checks the ref argument. Object names in upper case are accepted, as
// by git.
func gitRef(ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	if err := git.CheckRef(ref); err != nil {
		return "", fmt.Errorf("%q cannot be a git ref: %w", ref, err)
	}
	if lower := strings.ToLower(ref); git.IsObjectID(lower) {
		return lower, nil
	}
	return ref, nil
}

// decodeSSHKey decodes the sshkey argument. Its "+" were turned into spaces
// where nobody escaped them.
func decodeSSHKey(arg string) ([]byte, error) {
	if arg == "" {
		return nil, nil
	}
	if len(arg) > maxSSHKey {
		return nil, fmt.Errorf("the sshkey argument is longer than %d bytes", maxSSHKey)
	}
	key, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(arg, " ", "+"))
	if err != nil {
		// Not the error of the decoder, which tells where in the secret.
		return nil, errors.New("the sshkey argument is not base64")
	}
	return key, nil
}

// identity names the repository whoever asks for it: the remote without its
// userinfo.
func (a gitAddress) identity() string {
	u := a.remote
	u.User = nil
	return u.String()
}

// resolved is the immutable address of one commit. Other arguments stay by
// name only, because their values may be secrets.
func (a gitAddress) resolved(commit string) addrs.ModulePackage {
	u := a.remote
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "ref=" + commit
	return addrs.ParseModulePackage(addrs.Redact("git::" + u.String()))
}
