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
	// MaxSignature limits a file with signatures, in bytes.
	MaxSignature = 64 << 10
	MaxKeys      = 64
	// MaxKey is in bytes. Longer keys are skipped.
	MaxKey = 64 << 10
	// maxSignatures limits the signatures in a file.
	maxSignatures = 16
	// minRSA is in bits.
	minRSA = 2048
	// maxName limits the name of a key's owner, and maxReason a reason, in characters.
	maxName, maxReason = 128, 512
)

type Key struct {
	// ID is the key's id as the registry states it, for messages.
	ID string
	// Armor is ASCII-armoured, and may have several keys.
	Armor string
}

type Options struct {
	AllowWeak     bool
	RefuseExpired bool
	// Now is when keys and signatures must be valid; zero means the current time.
	Now time.Time
}

type Signer struct {
	// KeyID is that of the primary key, 16 upper-case hexadecimal digits.
	KeyID string
	// Fingerprint is that of the primary key, in upper-case hexadecimal.
	Fingerprint string
	// Name is the user id of the key, such as "Acme <security@acme.example>", without unprintable
	// characters, if it has one. Nothing proves it.
	Name string
	// Weak is why the signature is weak, and accepted only because [Options].AllowWeak is set.
	Weak string
	// Warnings are messages for the user.
	Warnings []string
}

// Check returns the key that has made a good detached signature of a document. The error is an *[Error].
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
		return malformed("it is ASCII-armoured, but the protocol requires binary signatures")
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
				return malformed("it contains something other than signatures")
			}
		}
		if found = append(found, one.Bytes()); len(found) > maxSignatures {
			return malformed(fmt.Sprintf("it has more than %d signatures", maxSignatures))
		}
	}
}

type ring struct{ openpgp.EntityList }

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

type verdict struct {
	signer Signer
	// err is nil for a good signature, or else a sentinel of this package.
	err    error
	reason string
}

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
	v.signer = signerOf(entity)
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

// weakness returns why a signature is weak, or "". Key ids are not unique, so it checks all keys that may
// have made it.
func (r ring) weakness(signed *packet.Signature) string {
	if signed.Hash == crypto.SHA1 || signed.Hash == crypto.RIPEMD160 || signed.Hash == crypto.MD5 {
		return "it uses the hash " + signed.Hash.String()
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

func signerOf(entity *openpgp.Entity) Signer {
	s := Signer{
		KeyID:       entity.PrimaryKey.KeyIdString(),
		Fingerprint: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint),
	}
	if identity := entity.PrimaryIdentity(); identity != nil {
		s.Name = printable(identity.Name, maxName)
	}
	return s
}

// printable cuts a text to most characters, and removes those that control a terminal.
func printable(text string, most int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text))
	return string(runes[:min(len(runes), most)])
}

// decide returns the signer of the best verdict, or the most informative error. A good signature does not
// count if another copy of its key is revoked, and a weak one only if there is no strong one.
func decide(all []verdict, opts Options, unread error, signatures [][]byte, offered int) (Signer, error) {
	revoked := make(map[string]bool)
	for _, v := range all {
		if errors.Is(v.err, ErrRevoked) {
			revoked[v.signer.Fingerprint] = true
		}
	}
	for _, accepted := range []struct {
		err    error
		isWeak bool
	}{{nil, false}, {ErrExpired, false}, {nil, true}, {ErrExpired, true}} {
		for _, v := range all {
			if !errors.Is(v.err, accepted.err) || (v.signer.Weak != "") != accepted.isWeak ||
				revoked[v.signer.Fingerprint] || v.err != nil && opts.RefuseExpired {
				continue
			}
			if v.err != nil {
				v.signer.Warnings = append(v.signer.Warnings, fmt.Sprintf("signed by the key %s: %s", v.signer.KeyID, v.reason))
			}
			return v.signer, nil
		}
	}
	for _, kind := range []error{ErrRevoked, ErrExpired, ErrWeak, ErrInvalid} {
		for _, v := range all {
			if errors.Is(v.err, kind) {
				return Signer{}, &Error{Err: kind, KeyID: v.signer.KeyID, Reason: v.reason}
			}
		}
	}
	return Signer{}, unknown(signatures, offered, unread)
}

func unknown(signatures [][]byte, offered int, unread error) *Error {
	e := &Error{Err: ErrUnknownKey, Reason: fmt.Sprintf("%d keys are offered", offered)}
	if offered == 1 {
		e.Reason = "1 key is offered"
	}
	if unread != nil {
		e.Reason += "; " + unread.Error()
	}
	for _, one := range signatures {
		parsed, err := packet.Read(bytes.NewReader(one))
		if err != nil {
			e.Err, e.Reason = ErrInvalid, err.Error()
			continue
		}
		if s, ok := parsed.(*packet.Signature); ok && s.IssuerKeyId != nil {
			e.KeyID = fmt.Sprintf("%016X", *s.IssuerKeyId)
		}
	}
	return e
}
