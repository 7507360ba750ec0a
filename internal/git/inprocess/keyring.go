package inprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// maxKeyFile bounds the size of a private key file, in bytes. A 16384 bit RSA key takes 13 KiB.
const maxKeyFile = 64 << 10

// keyRing finds the keys to offer, and records the keys that it tried, for error messages.
type keyRing struct {
	home string
	host *sshHost
	// given is the caller's key, or nil if there is none.
	given ssh.Signer
	agent net.Conn
	// asked is set when the server, whose own key was accepted, asks for a key.
	asked bool
	tried []string
	// locked are the names of key files that need a passphrase.
	locked []string
}

// newKeyRing returns a keyRing with the caller's key.
func newKeyRing(s SSH, host *sshHost) (*keyRing, error) {
	k := &keyRing{home: s.Home, host: host}
	if s.Key == nil {
		return k, nil
	}
	var err error
	if k.given, err = ssh.ParsePrivateKey(s.Key); err != nil {
		// The parser's error is not wrapped, because it may contain parts of the key.
		return nil, failure(Authentication, "the key of the sshkey argument cannot be read; it must be a private key without a passphrase")
	}
	return k, nil
}

// signers returns the keys to offer, in OpenSSH's order: the caller's key, keys of the agent
// that a file names, other keys of the agent, keys that are only in files. The order matters,
// because a forge identifies the account by the first key that it knows.
func (k *keyRing) signers(ctx context.Context) []ssh.Signer {
	k.asked = true
	var signers []ssh.Signer
	if k.given != nil {
		k.tried = append(k.tried, "the key of the sshkey argument")
		signers = append(signers, k.given)
	}
	held := k.ofAgent()
	var named, fromFiles []ssh.Signer
	for _, name := range k.host.identityFiles {
		file := readIdentity(ctx, name)
		i := slices.IndexFunc(held, file.isKeyOf)
		switch {
		case i >= 0:
			named = append(named, held[i])
			held = slices.Delete(held, i, i+1)
		case file.signer != nil:
			k.tried = append(k.tried, k.short(name))
			fromFiles = append(fromFiles, file.signer)
		case file.locked:
			k.locked = append(k.locked, k.short(name))
		}
	}
	if k.host.identitiesOnly {
		held = nil
	}
	if k.agent != nil {
		k.tried = slices.Insert(k.tried, len(k.tried)-len(fromFiles), fmt.Sprintf("%d keys of the ssh agent", len(named)+len(held)))
	}
	return slices.Concat(signers, named, held, fromFiles)
}

// ofAgent returns the keys of the agent.
func (k *keyRing) ofAgent() []ssh.Signer {
	if k.host.agentSocket == "" {
		return nil
	}
	raw, err := net.Dial("unix", k.host.agentSocket)
	if err != nil {
		return nil // the agent may have exited
	}
	signers, err := agent.NewClient(raw).Signers()
	if err != nil {
		_ = raw.Close()
		return nil
	}
	k.agent = raw
	return signers
}

// short returns the name of a file with "~" for the home directory.
func (k *keyRing) short(name string) string {
	if rest, ok := strings.CutPrefix(name, k.home+string(filepath.Separator)); ok && k.home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return name
}

// identity describes the key in a key file.
type identity struct {
	public ssh.PublicKey // nil if it is not known
	signer ssh.Signer    // nil if the private key cannot be used
	locked bool          // the private key needs a passphrase
}

// readIdentity reads a private key, or only the public key of a key that the agent may have.
// The public key is in the file itself, or in a file with the additional suffix ".pub".
func readIdentity(ctx context.Context, name string) identity {
	var id identity
	text, err := atomicfile.ReadUser(ctx, name, maxKeyFile)
	if err == nil {
		id.signer, err = ssh.ParsePrivateKey(text)
	}
	if id.signer != nil {
		id.public = id.signer.PublicKey()
		return id
	}
	if missing, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		id.locked, id.public = true, missing.PublicKey
	}
	if id.public == nil {
		id.public, _, _, _, _ = ssh.ParseAuthorizedKey(text)
	}
	if id.public == nil {
		text, _ = atomicfile.ReadUser(ctx, name+".pub", maxKeyFile)
		id.public, _, _, _, _ = ssh.ParseAuthorizedKey(text)
	}
	return id
}

func (id identity) isKeyOf(s ssh.Signer) bool {
	return id.public != nil && bytes.Equal(s.PublicKey().Marshal(), id.public.Marshal())
}

// refused returns the error for a server that accepted none of the keys.
func (k *keyRing) refused(user, host string) error {
	tried := "there was no key to offer"
	if len(k.tried) > 0 {
		tried = "it was offered " + strings.Join(k.tried, ", ")
	}
	if len(k.locked) > 0 {
		tried += "; " + strings.Join(k.locked, ", ") + " needs a passphrase, and there is no prompt for it: load it into the ssh agent"
	}
	return failure(Authentication, "the ssh server %s does not let %s in: %s", printable(host), printable(user), tried)
}

func (k *keyRing) close() {
	if k.agent != nil {
		_ = k.agent.Close()
	}
}
