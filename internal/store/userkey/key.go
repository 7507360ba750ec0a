package userkey

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrUnproven says that this user did not write a file for this purpose: the file has no code, or
// the code is for another key, purpose or content.
var ErrUnproven = errors.New("it was not written here by this user")

var ErrShortSecret = fmt.Errorf("the key must have at least %d characters", minSecret)

// minSecret is the minimum length of a secret text in bytes. 32 hexadecimal digits have 128 bits.
const minSecret = 32

const size = sha256.Size

// Key is a user's key. Its zero value is not usable.
type Key struct{ secret [size]byte }

// Random returns a new random key. No other process has it.
func Random() *Key {
	var k Key
	rand.Read(k.secret[:])
	return &k
}

// FromSecret derives a key from a secret text.
func FromSecret(secret string) (*Key, error) {
	if len(secret) < minSecret {
		return nil, ErrShortSecret
	}
	return &Key{secret: sha256.Sum256([]byte(secret))}, nil
}

// header is the beginning of the first line of a sealed file. The number sign makes the line a
// comment in the languages of such files.
const header = "# cotter-proof-v1 "

// Seal returns content with a first line that proves it for a purpose.
func (k *Key) Seal(purpose string, content []byte) []byte {
	line := header + hex.EncodeToString(k.sum(purpose, content)) + "\n"
	return append([]byte(line), content...)
}

// Open returns the content of a sealed file, or [ErrUnproven].
func (k *Key) Open(purpose string, sealed []byte) ([]byte, error) {
	line, content, found := bytes.Cut(sealed, []byte("\n"))
	code, ok := bytes.CutPrefix(line, []byte(header))
	if !found || !ok {
		return nil, ErrUnproven
	}
	// The digits are compared as text, so that a content has only one sealed form: digits in upper
	// case are not accepted.
	want := hex.EncodeToString(k.sum(purpose, content))
	if !hmac.Equal(code, []byte(want)) {
		return nil, ErrUnproven
	}
	return content, nil
}

// Name returns a file name of 64 hexadecimal digits for a statement.
func (k *Key) Name(purpose, statement string) string {
	return hex.EncodeToString(k.sum(purpose, []byte(statement)))
}

// sum includes the length of the purpose, so that different pairs have different codes.
func (k *Key) sum(purpose string, content []byte) []byte {
	mac := hmac.New(sha256.New, k.secret[:])
	fmt.Fprintf(mac, "%d %s\n", len(purpose), purpose)
	mac.Write(content)
	return mac.Sum(nil)
}
