package signing_test

import (
	"crypto"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/cotterpin/cotter/internal/provider/signing"
	"github.com/cotterpin/cotter/internal/testenv"
)

var document = []byte(strings.Repeat("0", 64) + "  terraform-provider-x_1.0.0_linux_amd64.zip\n")

// TestCheck checks signatures and keys of many kinds, such as weak, expired, revoked and damaged
// ones. want is nil for a good signature. warned means that the signature is accepted with a
// warning.
func TestCheck(t *testing.T) {
	t.Parallel()
	type keys []signing.Key
	weak := signing.Options{AllowWeak: true}
	strict := signing.Options{RefuseExpired: true}
	goodKey, broken := public(t, good()), signing.Key{ID: "BROKEN", Armor: "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!!\n"}
	byGood := signed(t, good())
	expiring := sign(t, good(), changed(func(c *packet.Config) { c.SigLifetimeSecs = 60 }))
	tests := map[string]struct {
		signature []byte
		keys      keys
		opts      signing.Options
		want      error
		warned    bool
	}{
		"Ed25519":                     {byGood, keys{goodKey}, signing.Options{}, nil, false},
		"NIST P-256":                  {signed(t, p256()), keys{public(t, p256())}, signing.Options{}, nil, false},
		"RSA 2048":                    {signed(t, rsa2048()), keys{public(t, rsa2048())}, signing.Options{}, nil, false},
		"RSA 2048, SHA-512":           {ofHash(t, rsa2048(), crypto.SHA512), keys{public(t, rsa2048())}, signing.Options{}, nil, false},
		"version 6":                   {signed(t, v6()), keys{public(t, v6())}, signing.Options{}, nil, false},
		"subkey":                      {signed(t, subkey()), keys{public(t, subkey())}, signing.Options{}, nil, false},
		"RSA 1024":                    {signed(t, rsa1024()), keys{public(t, rsa1024())}, signing.Options{}, signing.ErrWeak, false},
		"RSA 1024, allowed":           {signed(t, rsa1024()), keys{public(t, rsa1024())}, weak, nil, false},
		"SHA-1":                       {ofHash(t, rsa2048(), crypto.SHA1), keys{public(t, rsa2048())}, signing.Options{}, signing.ErrWeak, false},
		"SHA-1, allowed":              {ofHash(t, rsa2048(), crypto.SHA1), keys{public(t, rsa2048())}, weak, nil, false},
		"SHA-1 and SHA-256":           {slices.Concat(ofHash(t, rsa2048(), crypto.SHA1), signed(t, rsa2048())), keys{public(t, rsa2048())}, signing.Options{}, nil, false},
		"DSA":                         {dsaSignature(t), keys{dsaKey(t)}, signing.Options{}, signing.ErrWeak, false},
		"DSA, allowed":                {dsaSignature(t), keys{dsaKey(t)}, weak, nil, false},
		"MD5":                         {withHash(byGood, 1), keys{goodKey}, weak, signing.ErrInvalid, false},
		"key expired":                 {signed(t, expired()), keys{public(t, expired())}, signing.Options{}, nil, true},
		"key expired, refused":        {signed(t, expired()), keys{public(t, expired())}, strict, signing.ErrExpired, false},
		"signature expired":           {expiring, keys{goodKey}, signing.Options{}, nil, true},
		"signature expired, refused":  {expiring, keys{goodKey}, strict, signing.ErrExpired, false},
		"one signature expired":       {slices.Concat(expiring, byGood), keys{goodKey}, strict, nil, false},
		"key revoked":                 {byGood, keys{revoked(t, good())}, weak, signing.ErrRevoked, false},
		"other copy revoked":          {byGood, keys{goodKey, revoked(t, good())}, signing.Options{}, signing.ErrRevoked, false},
		"other key revoked":           {slices.Concat(signed(t, other()), byGood), keys{revoked(t, other()), goodKey}, signing.Options{}, nil, false},
		"not offered":                 {byGood, keys{public(t, other())}, signing.Options{}, signing.ErrUnknownKey, false},
		"no keys":                     {byGood, nil, signing.Options{}, signing.ErrNoKeys, false},
		"wrong and right":             {byGood, keys{public(t, other()), goodKey}, signing.Options{}, nil, false},
		"expired unused and right":    {byGood, keys{public(t, expired()), goodKey}, strict, nil, false},
		"empty armour before":         {byGood, keys{{}, goodKey}, signing.Options{}, nil, false},
		"broken armour before":        {byGood, keys{broken, goodKey}, signing.Options{}, nil, false},
		"broken armour behind":        {byGood, keys{goodKey, broken}, signing.Options{}, nil, false},
		"only broken armour":          {byGood, keys{broken}, signing.Options{}, signing.ErrUnknownKey, false},
		"large key before":            {byGood, keys{{Armor: strings.Repeat("x", signing.MaxKey+1)}, goodKey}, signing.Options{}, nil, false},
		"two keys in one armour":      {byGood, keys{{Armor: public(t, other()).Armor + "\n" + goodKey.Armor}, goodKey}, signing.Options{}, nil, false},
		"two signatures":              {slices.Concat(byGood, signed(t, other())), keys{goodKey}, signing.Options{}, nil, false},
		"two signatures, other order": {slices.Concat(signed(t, other()), byGood), keys{goodKey}, signing.Options{}, nil, false},
		"too many signatures":         {slices.Concat(slices.Repeat([][]byte{byGood}, 17)...), keys{goodKey}, signing.Options{}, signing.ErrMalformed, false},
		"armoured signature":          {armoured(t, byGood), keys{goodKey}, signing.Options{}, signing.ErrMalformed, false},
		"empty signature":             {nil, keys{goodKey}, signing.Options{}, signing.ErrMalformed, false},
		"cut signature":               {byGood[:len(byGood)-5], keys{goodKey}, signing.Options{}, signing.ErrMalformed, false},
		"page instead of a signature": {[]byte("<html>not found</html>"), keys{goodKey}, signing.Options{}, signing.ErrMalformed, false},
		"long signature":              {make([]byte, signing.MaxSignature+1), keys{goodKey}, signing.Options{}, signing.ErrTooLarge, false},
		"too many keys":               {byGood, slices.Repeat(keys{goodKey}, signing.MaxKeys+1), signing.Options{}, signing.ErrTooLarge, false},
	}
	for name, test := range tests {
		test.opts.Now = now
		signer, err := signing.Check(document, test.signature, test.keys, test.opts)
		if e, ok := errors.AsType[*signing.Error](err); !errors.Is(err, test.want) || (err != nil && !ok) {
			t.Errorf("%s: Check = %v, want %v", name, err, test.want)
		} else if ok && (e.Error() == "" || strings.ContainsFunc(e.Error(), func(r rune) bool { return r < ' ' })) {
			t.Errorf("%s: the message is %q", name, e)
		}
		if err == nil && (len(signer.Warnings) > 0) != test.warned {
			t.Errorf("%s: warnings %q", name, signer.Warnings)
		}
	}
}

// TestStatedLength checks that a signature that says that it has gigabytes costs no memory. It is not parallel,
// because the memory of other tests would count.
func TestStatedLength(t *testing.T) {
	// A signature of version 6 by Ed25519 with SHA-256, up to the length of its hashed subpackets (RFC 9580,
	// section 5.2.3).
	signature := []byte{0xc2, 8, 6, 0, 27, 8, 0x7f, 0xff, 0xff, 0xff}
	keys := []signing.Key{public(t, good())}
	allocated := testenv.Allocated(func() {
		if _, err := signing.Check(document, signature, keys, signing.Options{Now: now}); !errors.Is(err, signing.ErrUnknownKey) && !errors.Is(err, signing.ErrInvalid) {
			t.Errorf("Check = %v", err)
		}
	})
	if allocated > 16<<20 {
		t.Errorf("%d MB were allocated", allocated>>20)
	}
}

func TestOtherDocument(t *testing.T) {
	t.Parallel()
	_, err := signing.Check(append(slices.Clone(document), ' '), signed(t, good()), []signing.Key{public(t, good())}, signing.Options{Now: now})
	if !errors.Is(err, signing.ErrInvalid) {
		t.Errorf("Check = %v, want ErrInvalid", err)
	}
	_, err = signing.Check(make([]byte, signing.MaxSums+1), signed(t, good()), []signing.Key{public(t, good())}, signing.Options{Now: now})
	if !errors.Is(err, signing.ErrTooLarge) {
		t.Errorf("a large document: Check = %v, want ErrTooLarge", err)
	}
}

func TestSigner(t *testing.T) {
	t.Parallel()
	signer, err := signing.Check(document, signed(t, subkey()), []signing.Key{public(t, subkey())}, signing.Options{Now: now})
	primary := subkey().PrimaryKey
	if err != nil || signer.KeyID != primary.KeyIdString() || signer.Name != "Acme <security@acme.example>" ||
		!strings.HasSuffix(signer.Fingerprint, signer.KeyID) || len(signer.Fingerprint) != 40 {
		t.Errorf("Check = %+v, %v", signer, err)
	}
	signer, err = signing.Check(document, signed(t, expired()), []signing.Key{public(t, expired())}, signing.Options{Now: made.Add(time.Hour)})
	if err != nil || len(signer.Warnings) > 0 {
		t.Errorf("before the key expires: %+v, %v", signer, err)
	}
}

func withHash(signature []byte, hash byte) []byte {
	signature = slices.Clone(signature)
	body := 2 // after the header, if the length takes one byte
	if signature[1] >= 192 {
		body = 3
	}
	signature[body+3] = hash
	return signature
}

func FuzzCheck(f *testing.F) {
	key, signature := public(f, good()), signed(f, good())
	f.Add(signature, key.Armor)
	f.Add(signed(f, subkey()), public(f, subkey()).Armor)
	f.Add(signed(f, v6()), public(f, v6()).Armor)
	f.Add(signature, revoked(f, good()).Armor)
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, signature []byte, armor string) {
		signer, err := signing.Check(document, signature, []signing.Key{{Armor: armor}}, signing.Options{Now: now})
		if _, ok := errors.AsType[*signing.Error](err); err != nil && !ok {
			t.Errorf("Check = %v, want *Error", err)
		}
		if err == nil && signer.KeyID == "" {
			t.Errorf("signer %+v", signer)
		}
	})
}
