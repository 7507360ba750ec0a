package signing

import (
	"bytes"
	"cmp"
	"crypto"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

const (
	// MaxSignature bounds a file with signatures, in bytes.
	MaxSignature = 64 << 10
	// MaxKeys bounds the number of keys that are offered.
	MaxKeys = 64
	// MaxKey bounds each key, in bytes. Longer ones are skipped.
	MaxKey = 64 << 10
	// maxSignatures bounds the signatures in a file.
	maxSignatures = 16
	// minRSA is the least number of bits of an RSA key that is not weak.
	minRSA = 2048
	// maxName bounds the name of a key's owner, and maxReason a reason, in characters.
	maxName, maxReason = 128, 512
)

// Key is an OpenPGP key that a registry offers.
type Key struct {
	// ID is the key's id as the registry has it, for messages.
	ID string
	// Armor is the ASCII-armoured public key. It may hold several keys.
	Armor string
}

// Options changes which signatures [Check] accepts.
type Options struct {
	// AllowWeak accepts SHA-1, RSA keys below 2048 bits and DSA.
	AllowWeak bool
	// RefuseExpired refuses keys and signatures that have expired.
	RefuseExpired bool
	// Now is the time at which keys and signatures must be valid; the zero value
	// means the current time.
	Now time.Time
}

// Signer is the key that signed a document.
type Signer struct {
	// KeyID is the id of the primary key, 16 upper-case hexadecimal digits.
	KeyID string
	// Fingerprint is that of the primary key, in upper-case hexadecimal.
	Fingerprint string
	// Name is the user id of the key, such as "Acme <security@acme.example>", made
	// printable; "" if it has none. Nothing proves it.
	Name string
	// Signed is the time of the signature, by the clock of the signer.
	Signed time.Time
	// Weak is why the signature is weak, which [Options].AllowWeak accepts; "" if it is
	// not.
	Weak string
	// Warnings are texts for the user.
	Warnings []string
}

// Check checks that a document has a good detached signature by one of the keys, and
// returns which one. The error is a *[Error].
func Check(document, signature []byte, keys []Key, opts Options) (Signer, error) {
	switch {
	case len(keys) == 0:
		return Signer{}, &Error{Err: ErrNoKeys}
	case len(keys) > MaxKeys:
		return Signer{}, &Error{Err: ErrTooLarge, Reason: fmt.Sprintf("there are %d keys; the limit is %d", len(keys), MaxKeys)}
	case len(document) > MaxSums:
		return Signer{}, &Error{Err: ErrTooLarge, Reason: fmt.Sprintf("the document has %d bytes; the limit is %d", len(document), MaxSums)}
	}
	signatures, err := split(signature)
	if err != nil {
		return Signer{}, err
	}
	rings, unread := readKeys(keys)
	var all []verdict
	for _, one := range signatures {
		for _, ring := range rings {
			if v, ok := ring.check(document, one, opts); ok {
				all = append(all, v)
			}
		}
	}
	return decide(all, opts, unread, signatures, len(keys))
}

// split returns the signatures of a file, each as a packet.
func split(file []byte) ([][]byte, error) {
	malformed := func(reason string) ([][]byte, error) {
		return nil, &Error{Err: ErrMalformed, Reason: reason}
	}
	switch {
	case len(file) == 0:
		return malformed("the file is empty")
	case len(file) > MaxSignature:
		return nil, &Error{Err: ErrTooLarge, Reason: fmt.Sprintf("the signature has %d bytes; the limit is %d", len(file), MaxSignature)}
	case bytes.HasPrefix(bytes.TrimSpace(file), []byte("-----BEGIN ")):
		return malformed("it is ASCII-armoured; the protocol has binary signatures")
	}
	var found [][]byte
	packets := packet.NewOpaqueReader(bytes.NewReader(file))
	for {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) && len(found) > 0 {
			return found, nil
		}
		if err != nil {
			return malformed(err.Error())
		}
		var one bytes.Buffer
		if err := p.Serialize(&one); err != nil {
			return malformed(err.Error())
		}
		if parsed, err := packet.Read(bytes.NewReader(one.Bytes())); err == nil {
			if _, ok := parsed.(*packet.Signature); !ok {
				return malformed("it has something else than signatures in it")
			}
		}
		if found = append(found, one.Bytes()); len(found) > maxSignatures {
			return malformed(fmt.Sprintf("it has more than %d signatures", maxSignatures))
		}
	}
}

// ring is the content of one armour.
type ring struct{ openpgp.EntityList }

// readKeys reads the keys that can be read. unread is the reason why the first of the
// others cannot, or nil.
func readKeys(keys []Key) (rings []ring, unread error) {
	for _, key := range keys {
		entities, err := readKey(key)
		if err != nil {
			unread = cmp.Or(unread, fmt.Errorf("the key %q cannot be read: %w", printable(key.ID, maxName), err))
			continue
		}
		rings = append(rings, ring{entities})
	}
	return rings, unread
}

func readKey(key Key) (openpgp.EntityList, error) {
	if len(key.Armor) > MaxKey {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", len(key.Armor), MaxKey)
	}
	entities, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key.Armor))
	if err == nil && len(entities) == 0 {
		return nil, errors.New("it is empty")
	}
	return entities, err
}

// verdict is the result of one signature and one key.
type verdict struct {
	signer Signer
	// err is nil for a good signature, or one of the sentinels of this package, and
	// reason says more.
	err    error
	reason string
}

// check checks a signature by the keys of the ring. It returns false if the signature
// names none of them.
func (r ring) check(document, signature []byte, opts Options) (v verdict, ok bool) {
	now := cmp.Or(opts.Now, time.Now())
	config := &packet.Config{Time: func() time.Time { return now }}
	signed, entity, err := openpgp.VerifyDetachedSignature(r, bytes.NewReader(document), bytes.NewReader(signature), config)
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return verdict{}, false
	case entity == nil || signed == nil:
		return verdict{err: ErrInvalid, reason: fmt.Sprint(err)}, true
	}
	weak := r.weakness(signed)
	v.signer = signerOf(entity, signed)
	v.signer.Weak = weak
	switch {
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		v.err = ErrRevoked
	case err != nil && !isExpiry(err):
		v.err, v.reason = ErrInvalid, err.Error()
	case weak != "" && !opts.AllowWeak:
		v.err, v.reason = ErrWeak, weak
	case errors.Is(err, pgperrors.ErrKeyExpired):
		v.err, v.reason = ErrExpired, "the key has expired"
	case err != nil:
		v.err, v.reason = ErrExpired, "the signature has expired"
	}
	return v, true
}

func isExpiry(err error) bool {
	return errors.Is(err, pgperrors.ErrKeyExpired) || errors.Is(err, pgperrors.ErrSignatureExpired)
}

// weakness returns why a signature is weak, or "". All keys that may have made it
// count, because ids of keys are not unique.
func (r ring) weakness(signed *packet.Signature) string {
	if signed.Hash == crypto.SHA1 || signed.Hash == crypto.RIPEMD160 || signed.Hash == crypto.MD5 {
		return "it is of the hash " + signed.Hash.String()
	}
	if signed.IssuerKeyId == nil {
		return ""
	}
	for _, key := range r.KeysByIdUsage(*signed.IssuerKeyId, packet.KeyFlagSign) {
		bits, err := key.PublicKey.BitLength()
		switch algorithm := key.PublicKey.PubKeyAlgo; {
		case err != nil:
			return "the length of the key is not known"
		case algorithm == packet.PubKeyAlgoDSA:
			return "the key is a DSA key"
		case (algorithm == packet.PubKeyAlgoRSA || algorithm == packet.PubKeyAlgoRSASignOnly) && bits < minRSA:
			return fmt.Sprintf("the key is an RSA key of %d bits", bits)
		}
	}
	return ""
}

func signerOf(entity *openpgp.Entity, signed *packet.Signature) Signer {
	s := Signer{
		KeyID:       entity.PrimaryKey.KeyIdString(),
		Fingerprint: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint),
		Signed:      signed.CreationTime,
	}
	if identity := entity.PrimaryIdentity(); identity != nil {
		s.Name = printable(identity.Name, maxName)
	}
	return s
}

// printable makes a text fit to be shown: without characters that control a terminal,
// and not too long.
func printable(text string, most int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text))
	return string(runes[:min(len(runes), most)])
}
