package mirror

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/internal/artifact"
)

// Trust determines which entries a mirror can confirm. The zero value confirms nothing: the
// mirror delivers packages, which are compared with the lock. That is right for a mirror that a
// repository names, because the author of the repository could otherwise have any lock confirmed.
type Trust struct {
	// Named reports whether the user has named the mirror, so that it confirms entries like an
	// origin.
	Named bool
	// SignedBy are lists of keys. If it is not empty, the mirror confirms an entry only if a key
	// in each list has signed it. The user must have named either the mirror or the keys of one of
	// the lists.
	SignedBy [][]ed25519.PublicKey
}

// CheckTrust implements [cotter.PackageStore].
func (m *Mirror) CheckTrust(manifest []byte) error {
	if !m.Trust.Named && len(m.Trust.SignedBy) == 0 {
		return cotter.ErrDeliversOnly
	}
	if len(m.Trust.SignedBy) == 0 {
		return nil
	}
	for _, keys := range m.Trust.SignedBy {
		if err := artifact.CheckSigned(manifest, keys); err != nil {
			return err
		}
	}
	return nil
}

// Evidence implements [cotter.PackageStore]. If keys decide, it names the keys and not the mirror.
func (m *Mirror) Evidence() evidence.Evidence {
	switch {
	case len(m.Trust.SignedBy) > 0:
		return evidence.Evidence{Kind: evidence.SignedMirror, By: m.Trust.keys()}
	case m.Trust.Named:
		return evidence.Evidence{Kind: evidence.Mirror, By: m.Name()}
	}
	return evidence.Evidence{}
}

// keys returns the IDs of the keys, with "or" between those of a list and "and" between lists.
func (t Trust) keys() string {
	all := make([]string, len(t.SignedBy))
	for i, list := range t.SignedBy {
		ids := make([]string, len(list))
		for j, key := range list {
			ids[j] = artifact.KeyID(key)
		}
		slices.Sort(ids)
		all[i] = strings.Join(ids, " or ")
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

// ParsePublicKeys returns the ed25519 keys in a PEM text, in the form in which "openssl pkey -in
// FILE -pubout" writes them. There must be at least one key.
func ParsePublicKeys(text []byte) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "PUBLIC KEY" {
			return nil, fmt.Errorf("it has a PEM block %q, which is not a PUBLIC KEY", block.Type)
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("it has a public key that cannot be read")
		}
		key, ok := parsed.(ed25519.PublicKey)
		if !ok {
			return nil, errors.New("it has a public key that is not an ed25519 key")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no public key in PEM")
	}
	return keys, nil
}

// ParsePrivateKey returns the ed25519 key in a PEM text (PKCS #8), in the form in which "openssl
// genpkey -algorithm ed25519" writes it.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("it has no private key in PEM")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("its private key is encrypted, which is not supported")
	case block.Type != "PRIVATE KEY":
		return nil, fmt.Errorf("it has a PEM block %q, which is not a PRIVATE KEY (PKCS #8)", block.Type)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it has a private key that cannot be read")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it has a private key that is not an ed25519 key")
	}
	return key, nil
}

// publicKeys returns the public key of a private key as a list.
func publicKeys(key ed25519.PrivateKey) []ed25519.PublicKey {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil // should never happen
	}
	return []ed25519.PublicKey{public}
}
