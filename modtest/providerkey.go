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

// providerKey is an OpenPGP key that documents of sums are signed with.
type providerKey struct {
	entity *openpgp.Entity
	armor  string
	signed time.Time // the date of its signatures
}

// The keys of a process. They are made when they are needed first.
var (
	// worldKey is offered by all registries.
	worldKey = sync.OnceValues(func() (*providerKey, error) { return newProviderKey("modtest", packet.Config{}) })
	// strangerKey is offered by none.
	strangerKey = sync.OnceValues(func() (*providerKey, error) { return newProviderKey("modtest stranger", packet.Config{}) })
	// expiredKey was valid for the day after the epoch.
	expiredKey = sync.OnceValues(func() (*providerKey, error) {
		return newProviderKey("modtest expired", packet.Config{KeyLifetimeSecs: uint32(24 * time.Hour / time.Second)})
	})
	// weakKey is short.
	weakKey = sync.OnceValues(func() (*providerKey, error) {
		return newProviderKey("modtest weak", packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 1024})
	})
)

// newProviderKey makes a key, by default of the type Ed25519, which is quick to make and
// to use.
func newProviderKey(name string, config packet.Config) (*providerKey, error) {
	k := &providerKey{signed: epoch.Add(time.Hour)}
	config.Algorithm = cmp.Or(config.Algorithm, packet.PubKeyAlgoEdDSA)
	config.Time = func() time.Time { return epoch }
	entity, err := openpgp.NewEntity(name, "", "modtest@example.com", &config)
	if err != nil {
		return nil, err
	}
	text, err := armored(openpgp.PublicKeyType, entity.Serialize)
	k.entity, k.armor = entity, string(text)
	return k, err
}

func (k *providerKey) id() string { return k.entity.PrimaryKey.KeyIdString() }

// sign returns a detached signature.
func (k *providerKey) sign(document []byte) ([]byte, error) {
	var signature bytes.Buffer
	config := &packet.Config{Time: func() time.Time { return k.signed }}
	err := openpgp.DetachSign(&signature, k.entity, bytes.NewReader(document), config)
	return signature.Bytes(), err
}

// signArmored returns a detached signature in ASCII armour.
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

// armored returns what write writes, in ASCII armour.
func armored(kind string, write func(io.Writer) error) ([]byte, error) {
	var text bytes.Buffer
	w, err := armor.Encode(&text, kind, nil)
	if err != nil {
		return nil, err
	}
	err = errors.Join(write(w), w.Close())
	return text.Bytes(), err
}

// ProviderKey returns the id, 16 upper-case hexadecimal digits, and the ASCII armour of
// the OpenPGP key that the documents of sums of all worlds of this process are signed
// with.
func (w *World) ProviderKey() (id, armor string, err error) {
	key, err := worldKey()
	if err != nil {
		return "", "", err
	}
	return key.id(), key.armor, nil
}
