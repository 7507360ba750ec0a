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

	"github.com/cotterpin/cotter/internal/provider/signing"
	"github.com/cotterpin/cotter/internal/testenv"
)

// made is the time at which the keys of these tests are made, and now the time at which they are
// used.
var (
	made = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	now  = made.Add(365 * 24 * time.Hour)
)

func at(t time.Time) *packet.Config {
	return &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return t }}
}

func changed(change func(*packet.Config)) *packet.Config {
	config := at(made)
	change(config)
	return config
}

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
	testenv.Must(t, err)
	return signing.Key{ID: entity.PrimaryKey.KeyIdString(), Armor: text.String()}
}

func revoked(t testing.TB, entity *openpgp.Entity) signing.Key {
	t.Helper()
	again, err := openpgp.ReadArmoredKeyRing(bytes.NewReader([]byte(public(t, entity).Armor)))
	testenv.Must(t, err)
	again[0].PrivateKey = entity.PrivateKey
	testenv.Must(t, again[0].RevokeKey(packet.KeyCompromised, "stolen", at(made.Add(time.Hour))))
	return public(t, again[0])
}

func sign(t testing.TB, entity *openpgp.Entity, config *packet.Config) []byte {
	t.Helper()
	var signature bytes.Buffer
	testenv.Must(t, openpgp.DetachSign(&signature, entity, bytes.NewReader(document), config))
	return signature.Bytes()
}

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
	testenv.Must(t, err)
	return text.Bytes()
}

// dsaKey and dsaSignature belong to a DSA key of 2048 bits, which takes seconds to make. The
// signature is armoured only to store it as text.
func dsaKey(t testing.TB) signing.Key {
	t.Helper()
	text, err := os.ReadFile("testdata/dsa2048.key.asc")
	testenv.Must(t, err)
	return signing.Key{Armor: string(text)}
}

func dsaSignature(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/dsa2048.sig.asc")
	testenv.Must(t, err)
	block, err := armor.Decode(bytes.NewReader(text))
	testenv.Must(t, err)
	signature, err := io.ReadAll(block.Body)
	testenv.Must(t, err)
	return signature
}

func ofHash(t testing.TB, entity *openpgp.Entity, hash crypto.Hash) []byte {
	t.Helper()
	key, plain := entity.PrivateKey, false
	config := changed(func(c *packet.Config) { c.NonDeterministicSignaturesViaNotation = &plain })
	s := &packet.Signature{Version: 4, SigType: packet.SigTypeBinary, PubKeyAlgo: key.PubKeyAlgo, Hash: hash, CreationTime: made, IssuerKeyId: &key.KeyId}
	h, err := s.PrepareSign(config)
	testenv.Must(t, err)
	h.Write(document)
	var signature bytes.Buffer
	testenv.Must(t, s.Sign(h, key, config))
	testenv.Must(t, s.Serialize(&signature))
	return signature.Bytes()
}
