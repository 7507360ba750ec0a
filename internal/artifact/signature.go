package artifact

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxSignatures is the maximum number of signatures of an artifact.
const maxSignatures = 8

// Signature is a signature of an artifact by an ed25519 key. The package documentation describes
// the signed text.
type Signature struct {
	// KeyID identifies the key, see [KeyID].
	KeyID string
	// Value is the signature, which has 64 bytes.
	Value []byte
}

// KeyID returns the name of a key in messages and signatures: the first 16 hexadecimal digits of
// the SHA-256 sum of the key in PKIX form, which is the content of a PEM file.
func KeyID(key ed25519.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil { // should never happen
		return ""
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:8])
}

// Sign returns the artifact with an additional signature by a key. It replaces an earlier
// signature by the same key.
func (a Artifact[S]) Sign(key ed25519.PrivateKey) (Artifact[S], error) {
	var err error
	a.Signatures, err = sign(a.signedLines(), a.Signatures, key)
	return a, err
}

// SignedManifest returns the manifest of the artifact with a signature by a key, which may be nil.
// If former, the artifact that it replaces, has the same layer, its other signatures are kept.
func (a Artifact[S]) SignedManifest(key ed25519.PrivateKey, former Artifact[S]) ([]byte, error) {
	if former.Layer == a.Layer {
		a.Signatures = former.Signatures
	}
	if key != nil {
		var err error
		if a, err = a.Sign(key); err != nil {
			return nil, err
		}
	}
	return a.Manifest()
}

// CheckSigned returns nil if one of the keys has signed the artifact, and the reason otherwise.
// The text of the error is the same for all artifacts with the same defect.
func (a Artifact[S]) CheckSigned(keys []ed25519.PublicKey) error {
	return checkSigned(a.signedLines(), a.Signatures, keys)
}

func (a Artifact[S]) signedLines() []string {
	return append(a.Statement.signedLines(), "layer "+a.Layer.Digest)
}

// signedText returns the text that is signed. It refuses control characters, because they could
// make the texts of two statements equal.
func signedText(lines []string) ([]byte, error) {
	var text bytes.Buffer
	for _, line := range lines {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return nil, fmt.Errorf("%q has control characters, so it cannot be signed", line)
		}
		fmt.Fprintln(&text, line)
	}
	return text.Bytes(), nil
}

// sign returns the signatures with a new one by a key.
func sign(lines []string, signatures []Signature, key ed25519.PrivateKey) ([]Signature, error) {
	text, err := signedText(lines)
	if err != nil {
		return signatures, err
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return signatures, errors.New("the key has no public key") // should never happen
	}
	id := KeyID(public)
	others := slices.DeleteFunc(slices.Clone(signatures), func(s Signature) bool { return s.KeyID == id })
	if len(others) >= maxSignatures {
		return signatures, fmt.Errorf("it already has %d signatures", len(others))
	}
	return append(others, Signature{id, ed25519.Sign(key, text)}), nil
}

func checkSigned(lines []string, signatures []Signature, keys []ed25519.PublicKey) error {
	text, err := signedText(lines)
	if err != nil {
		return err
	}
	var wrong error
	var signers []string
	for _, s := range signatures {
		for _, key := range keys {
			switch {
			case KeyID(key) != s.KeyID:
			case ed25519.Verify(key, text, s.Value):
				return nil
			default:
				wrong = fmt.Errorf("its signature by the key %s is wrong", s.KeyID)
			}
		}
		signers = append(signers, s.KeyID)
	}
	switch {
	case wrong != nil:
		return wrong
	case len(signers) == 0:
		return errors.New("it is not signed")
	}
	return fmt.Errorf("it is signed by the key %s, which is not one of the trusted keys", strings.Join(signers, " and "))
}

// CheckSigned calls [Artifact.CheckSigned] for the artifact with a manifest, which can be of a
// module or of a provider. If it is of neither, the error wraps [ErrManifest].
func CheckSigned(manifest []byte, keys []ed25519.PublicKey) error {
	provider, err := ParseProvider(manifest)
	if err == nil {
		return provider.CheckSigned(keys)
	}
	module, err := ParseModule(manifest)
	if err != nil {
		return err
	}
	return module.CheckSigned(keys)
}

// formatSignatures returns the value of the annotation. parseSignatures is its inverse.
func formatSignatures(signatures []Signature) string {
	fields := make([]string, len(signatures))
	for i, s := range signatures {
		fields[i] = s.KeyID + ":" + base64.StdEncoding.EncodeToString(s.Value)
	}
	return strings.Join(fields, " ")
}

func parseSignatures(text string) ([]Signature, error) {
	fields := strings.Fields(text)
	if len(fields) > maxSignatures {
		return nil, bad("it has %d signatures", len(fields))
	}
	var signatures []Signature
	for _, field := range fields {
		id, encoded, _ := strings.Cut(field, ":")
		value, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if _, hexErr := hex.DecodeString(id); hexErr != nil || len(id) != 16 || err != nil || len(value) != ed25519.SignatureSize {
			return nil, bad("%q is not a signature", field)
		}
		signatures = append(signatures, Signature{id, value})
	}
	return signatures, nil
}
