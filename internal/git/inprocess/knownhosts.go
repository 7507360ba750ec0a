package inprocess

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// systemKnownHosts is the list of known hosts for all users; see ssh(1).
const systemKnownHosts = "/etc/ssh/ssh_known_hosts"

// hostKeys has the known keys of one host.
type hostKeys struct {
	files      []string
	db         *knownhosts.HostKeyDB
	algorithms []string
}

// knownHosts reads the lists of known hosts.
func (s SSH) knownHosts(address string) (*hostKeys, error) {
	candidates := []string{systemKnownHosts, systemKnownHosts + "2"}
	if s.Home != "" {
		candidates = append(candidates, filepath.Join(s.Home, ".ssh", "known_hosts"), filepath.Join(s.Home, ".ssh", "known_hosts2"))
	}
	h := &hostKeys{}
	for _, name := range candidates {
		if _, err := os.Stat(name); err == nil {
			h.files = append(h.files, name)
		}
	}
	if len(h.files) == 0 {
		return nil, h.untrusted(address, "there is no known_hosts file")
	}
	var err error
	if h.db, err = knownhosts.NewDB(h.files...); err != nil {
		return nil, &Error{Kind: Untrusted, Message: "the list of known ssh hosts cannot be read", Err: err}
	}
	// Without this, the server would choose the type of its key. The check would then fail if
	// only a key of another type is known.
	h.algorithms = h.db.HostKeyAlgorithms(address)
	return h, nil
}

// check compares the key of a host with the known keys.
func (h *hostKeys) check(address string, remote net.Addr, key ssh.PublicKey) error {
	err := h.db.HostKeyCallback()(address, remote, key)
	shown := key.Type() + " " + ssh.FingerprintSHA256(key)
	switch {
	case err == nil:
		return nil
	case knownhosts.IsHostKeyChanged(err):
		return h.untrusted(address, "its key "+shown+" differs from the known key, which may be an attack")
	case knownhosts.IsHostUnknown(err):
		return h.untrusted(address, "its key "+shown+" is not known")
	}
	return &Error{Kind: Untrusted, Message: "the ssh host " + printable(address) + " is not trusted", Err: errors.Unwrap(err)}
}

func (h *hostKeys) untrusted(address, reason string) error {
	where := strings.Join(h.files, ", ")
	if where == "" {
		where = "~/.ssh/known_hosts"
	}
	return failure(Untrusted, "the ssh host %s is not trusted: %s; compare it with what the host's owner says, and add it to %s",
		printable(address), reason, where)
}
