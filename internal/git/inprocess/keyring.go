package inprocess

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// maxKeyFile bounds a private key. A 16384 bit RSA key takes 13 KiB.
const maxKeyFile = 64 << 10

// keyRing finds keys to offer, and remembers for the user what it tried.
type keyRing struct {
	ssh SSH
	// given is the caller's key; nil for none.
	given ssh.Signer
	agent net.Conn
	// asked says that the server, whose own key is known, wants a key.
	asked bool
	tried []string
	// locked are key files that need a passphrase.
	locked []string
}

// newKeyRing reads the caller's key.
func newKeyRing(s SSH) (*keyRing, error) {
	k := &keyRing{ssh: s}
	if s.Key == nil {
		return k, nil
	}
	var err error
	if k.given, err = ssh.ParsePrivateKey(s.Key); err != nil {
		// Not the parser's words, which may hold parts of the key.
		return nil, failure(Authentication, "the key of the sshkey argument cannot be read; it must be a private key without a passphrase")
	}
	return k, nil
}

// signers are the keys to offer, in order.
func (k *keyRing) signers() ([]ssh.Signer, error) {
	k.asked = true
	var signers []ssh.Signer
	if k.given != nil {
		k.tried = append(k.tried, "the key of the sshkey argument")
		signers = append(signers, k.given)
	}
	signers = append(signers, k.ofAgent()...)
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		signers = append(signers, k.ofFile(name)...)
	}
	return signers, nil
}

func (k *keyRing) ofAgent() []ssh.Signer {
	if k.ssh.AgentSocket == "" {
		return nil
	}
	raw, err := net.Dial("unix", k.ssh.AgentSocket)
	if err != nil {
		return nil // one that has ended, as after a login
	}
	k.agent = raw
	signers, err := agent.NewClient(raw).Signers()
	if err != nil {
		return nil
	}
	k.tried = append(k.tried, fmt.Sprintf("%d keys of the ssh agent", len(signers)))
	return signers
}

func (k *keyRing) ofFile(name string) []ssh.Signer {
	if k.ssh.Home == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(k.ssh.Home, ".ssh", name))
	if err != nil || len(text) > maxKeyFile {
		return nil
	}
	signer, err := ssh.ParsePrivateKey(text)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		k.locked = append(k.locked, "~/.ssh/"+name)
	}
	if err != nil {
		return nil
	}
	k.tried = append(k.tried, "~/.ssh/"+name)
	return []ssh.Signer{signer}
}

// refused is the error for a server that took none of the keys.
func (k *keyRing) refused(user, host string) error {
	tried := "there was no key to offer"
	if len(k.tried) > 0 {
		tried = "it was offered " + strings.Join(k.tried, ", ")
	}
	if len(k.locked) > 0 {
		tried += "; " + strings.Join(k.locked, ", ") + " needs a passphrase, for which nobody is asked: load it into the ssh agent"
	}
	return failure(Authentication, "the ssh server %s does not let %s in: %s", printable(host), printable(user), tried)
}

func (k *keyRing) close() {
	if k.agent != nil {
		_ = k.agent.Close()
	}
}
