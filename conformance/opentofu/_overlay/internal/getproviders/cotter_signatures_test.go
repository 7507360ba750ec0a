package getproviders

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opentofu/opentofu/internal/addrs"

	cotter "github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/registryclient"
)

// TestCotterSignatures compares Cotter's check of signatures with OpenTofu's, with the keys and signatures of
// OpenTofu's tests.
func TestCotterSignatures(t *testing.T) {
	for name, test := range map[string]struct{ document, signature, key string }{
		"HashiCorp's":    {testProviderShaSums, testHashicorpSignatureGoodBase64, TestingPublicKey},
		"an author's":    {testShaSumsPlaceholder, testAuthorSignatureGoodBase64, testAuthorKeyArmor},
		"of another key": {testShaSumsPlaceholder, testAuthorSignatureGoodBase64, TestingPublicKey},
		"malformed":      {testShaSumsPlaceholder, testSignatureBadBase64, testAuthorKeyArmor},
		"malformed key":  {testProviderShaSums, testHashicorpSignatureGoodBase64, "invalid PGP armor value"},
	} {
		signature, err := base64.StdEncoding.DecodeString(test.signature)
		if err != nil {
			t.Fatal(err)
		}
		for _, strict := range []bool{false, true} {
			t.Setenv(enforceGPGExpirationEnvName, fmt.Sprint(strict))
			stock, stockErr := NewSignatureAuthentication(PackageMeta{}, []byte(test.document), signature,
				[]SigningKey{{ASCIIArmor: test.key}}, addrs.NewDefaultProvider("test")).AuthenticatePackage(nil)
			rules := cotter.Direct{AllowWeakSignatures: true, RefuseExpired: strict}
			ours, err := rules.VerifySums([]byte(test.document), signature, []registryclient.SigningKey{{Armor: test.key}})
			if (stockErr == nil) != (err == nil) {
				t.Errorf("%s, without expired ones %t: OpenTofu: %v, Cotter: %v", name, strict, stockErr, err)
			}
			want := slices.Sorted(stock.HashesWithDisposition(func(d *HashDisposition) bool { return d.SignedByAnyGPGKeys() }))
			var got []Hash
			for _, hash := range ours.Hashes {
				got = append(got, Hash(hash))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || len(want) > 0 && ours.KeyID != stock.GPGKeyIDsString() {
				t.Errorf("%s, without expired ones %t: key %s, want %s; hashes (-OpenTofu +Cotter):\n%s", name, strict, ours.KeyID, stock.GPGKeyIDsString(), diff)
			}
		}
	}
}
