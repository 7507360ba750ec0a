package modtest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

type providerKey struct {
	entity *openpgp.Entity
	armor  string
}

// The keys of a process, created when they are first needed.
var (
	// worldKey is the key that all registries offer.
	worldKey = sync.OnceValues(func() (*providerKey, error) { return newProviderKey("modtest", packet.Config{}) })
	// strangerKey is a key that no registry offers.
	strangerKey = sync.OnceValues(func() (*providerKey, error) { return newProviderKey("modtest stranger", packet.Config{}) })
	// expiredKey was valid for one day after the epoch.
	expiredKey = sync.OnceValues(func() (*providerKey, error) {
		return newProviderKey("modtest expired", packet.Config{KeyLifetimeSecs: uint32(24 * time.Hour / time.Second)})
	})
	// weakKey is too short.
	weakKey = sync.OnceValues(func() (*providerKey, error) {
		return newProviderKey("modtest weak", packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 1024})
	})
)

// newProviderKey creates by default an Ed25519 key, which is fast.
func newProviderKey(name string, config packet.Config) (*providerKey, error) {
	config.Algorithm = cmp.Or(config.Algorithm, packet.PubKeyAlgoEdDSA)
	config.Time = func() time.Time { return epoch }
	entity, err := openpgp.NewEntity(name, "", "modtest@example.com", &config)
	if err != nil {
		return nil, err
	}
	text, err := armored(openpgp.PublicKeyType, entity.Serialize)
	return &providerKey{entity, string(text)}, err
}

func (k *providerKey) id() string { return k.entity.PrimaryKey.KeyIdString() }

func (k *providerKey) sign(document []byte) ([]byte, error) {
	var signature bytes.Buffer
	config := &packet.Config{Time: func() time.Time { return epoch.Add(time.Hour) }}
	err := openpgp.DetachSign(&signature, k.entity, bytes.NewReader(document), config)
	return signature.Bytes(), err
}

func (k *providerKey) signArmored(document []byte) ([]byte, error) {
	signature, err := k.sign(document)
	if err != nil {
		return nil, err
	}
	return armored(openpgp.SignatureType, func(w io.Writer) error {
		_, err := w.Write(signature)
		return err
	})
}

func armored(kind string, write func(io.Writer) error) ([]byte, error) {
	var text bytes.Buffer
	w, err := armor.Encode(&text, kind, nil)
	if err != nil {
		return nil, err
	}
	err = errors.Join(write(w), w.Close())
	return text.Bytes(), err
}

// ProviderKey returns the OpenPGP key that signs the documents of sums of all worlds of this process: 16
// upper-case hexadecimal digits, and the public key in ASCII armour.
func (w *World) ProviderKey() (id, armor string, err error) {
	key, err := worldKey()
	if err != nil {
		return "", "", err
	}
	return key.id(), key.armor, nil
}
