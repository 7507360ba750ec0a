package mirror

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

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
