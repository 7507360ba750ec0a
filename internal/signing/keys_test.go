package signing_test

import (
	"bytes"
	"crypto"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/cotterpin/cotter/internal/signing"
)

// made is the time at which the keys of these tests are made, and now the time at which they are
// used.
var (
	made = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	now  = made.Add(365 * 24 * time.Hour)
)

// at returns a configuration for making keys and signatures at a time.
func at(t time.Time) *packet.Config {
	return &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return t }}
}

// changed returns a configuration for the time at which keys are made, modified by change.
func changed(change func(*packet.Config)) *packet.Config {
	config := at(made)
	change(config)
	return config
}

// kept returns a function that makes an entity once.
func kept(config *packet.Config) func() *openpgp.Entity {
	return sync.OnceValue(func() *openpgp.Entity {
		entity, err := openpgp.NewEntity("Acme", "", "security@acme.example", config)
		if err != nil {
			panic(err)
		}
		return entity
	})
}

var (
	good    = kept(at(made))
	other   = kept(at(made))
	p256    = kept(changed(func(c *packet.Config) { c.Algorithm, c.Curve = packet.PubKeyAlgoECDSA, packet.CurveNistP256 }))
	v6      = kept(changed(func(c *packet.Config) { c.Algorithm, c.V6Keys = packet.PubKeyAlgoEd25519, true }))
	rsa2048 = kept(changed(func(c *packet.Config) { c.Algorithm, c.RSABits = packet.PubKeyAlgoRSA, 2048 }))
	rsa1024 = kept(changed(func(c *packet.Config) { c.Algorithm, c.RSABits = packet.PubKeyAlgoRSA, 1024 }))
	expired = kept(changed(func(c *packet.Config) { c.KeyLifetimeSecs = 24 * 60 * 60 }))
	subkey  = sync.OnceValue(func() *openpgp.Entity {
		entity := kept(at(made))()
		if err := entity.AddSigningSubkey(at(made)); err != nil {
			panic(err)
		}
		return entity
	})
)

// public returns an entity's public key in ASCII armour.
func public(t testing.TB, entity *openpgp.Entity) signing.Key {
	t.Helper()
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err == nil {
		err = entity.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return signing.Key{ID: entity.PrimaryKey.KeyIdString(), Armor: text.String()}
}

// revoked returns the public key of an entity with a revocation.
func revoked(t testing.TB, entity *openpgp.Entity) signing.Key {
	t.Helper()
	again, err := openpgp.ReadArmoredKeyRing(bytes.NewReader([]byte(public(t, entity).Armor)))
	if err != nil {
		t.Fatal(err)
	}
	again[0].PrivateKey = entity.PrivateKey
	if err := again[0].RevokeKey(packet.KeyCompromised, "stolen", at(made.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	return public(t, again[0])
}

// sign returns a detached signature of the document by an entity.
func sign(t testing.TB, entity *openpgp.Entity, config *packet.Config) []byte {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, entity, bytes.NewReader(document), config); err != nil {
		t.Fatal(err)
	}
	return signature.Bytes()
}

// signed returns a signature from the time at which keys are made.
func signed(t testing.TB, entity *openpgp.Entity) []byte {
	t.Helper()
	return sign(t, entity, at(made))
}

func armoured(t testing.TB, signature []byte) []byte {
	t.Helper()
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.SignatureType, nil)
	if err == nil {
		_, err = w.Write(signature)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// dsaKey and dsaSignature belong to a DSA key of 2048 bits, which takes seconds to make. The
// signature is armoured only to store it as text.
func dsaKey(t testing.TB) signing.Key {
	t.Helper()
	text, err := os.ReadFile("testdata/dsa2048.key.asc")
	if err != nil {
		t.Fatal(err)
	}
	return signing.Key{Armor: string(text)}
}

func dsaSignature(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/dsa2048.sig.asc")
	if err != nil {
		t.Fatal(err)
	}
	block, err := armor.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := io.ReadAll(block.Body)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// ofHash returns a signature of the document by the primary key, with any hash algorithm.
func ofHash(t testing.TB, entity *openpgp.Entity, hash crypto.Hash) []byte {
	t.Helper()
	key, plain := entity.PrivateKey, false
	config := changed(func(c *packet.Config) { c.NonDeterministicSignaturesViaNotation = &plain })
	s := &packet.Signature{Version: 4, SigType: packet.SigTypeBinary, PubKeyAlgo: key.PubKeyAlgo, Hash: hash, CreationTime: made, IssuerKeyId: &key.KeyId}
	h, err := s.PrepareSign(config)
	if err != nil {
		t.Fatal(err)
	}
	h.Write(document)
	var signature bytes.Buffer
	if err := s.Sign(h, key, config); err != nil {
		t.Fatal(err)
	}
	if err := s.Serialize(&signature); err != nil {
		t.Fatal(err)
	}
	return signature.Bytes()
}
