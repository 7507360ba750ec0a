package signing_test

import (
	"crypto"
	"crypto/dsa" //nolint:staticcheck // stock tools accept its signatures
	"crypto/rand"
	"sync"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/cotterpin/cotter/internal/signing"
)

// dsaEntity is a key of 1024 bits, because the parameters of longer ones take seconds.
var dsaEntity = sync.OnceValue(func() *openpgp.Entity {
	private := new(dsa.PrivateKey)
	if err := dsa.GenerateParameters(&private.Parameters, rand.Reader, dsa.L1024N160); err != nil {
		panic(err)
	}
	if err := dsa.GenerateKey(private, rand.Reader); err != nil {
		panic(err)
	}
	key := packet.NewDSAPrivateKey(made, private)
	entity := &openpgp.Entity{PrimaryKey: &key.PublicKey, PrivateKey: key, Identities: map[string]*openpgp.Identity{}}
	user := packet.NewUserId("Acme", "", "security@acme.example")
	self := &packet.Signature{
		Version: 4, SigType: packet.SigTypePositiveCert, PubKeyAlgo: packet.PubKeyAlgoDSA, Hash: crypto.SHA256, CreationTime: made,
		IssuerKeyId: &key.KeyId, IssuerFingerprint: key.Fingerprint, FlagsValid: true, FlagSign: true, FlagCertify: true,
	}
	if err := self.SignUserId(user.Id, &key.PublicKey, key, at(made)); err != nil {
		panic(err)
	}
	entity.Identities[user.Id] = &openpgp.Identity{Name: user.Id, UserId: user, SelfSignature: self, Signatures: []*packet.Signature{self}}
	return entity
})

func dsaKey(t *testing.T) signing.Key {
	t.Helper()
	return public(t, dsaEntity())
}

func dsaSignature(t *testing.T) []byte {
	t.Helper()
	return signed(t, dsaEntity())
}
