package artifact_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/artifact"
)

// key returns the key pair whose seed consists of one repeated byte.
func key(seed byte) (ed25519.PrivateKey, ed25519.PublicKey) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(seed), ed25519.SeedSize)))
	return private, private.Public().(ed25519.PublicKey)
}

func signed(t testing.TB, keys ...ed25519.PrivateKey) artifact.Module {
	t.Helper()
	a := someArtifact()
	for _, key := range keys {
		var err error
		if a, err = a.Sign(key); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// The signed text is part of the format, because other programs sign it and check signatures.
func TestSignedTextIsPinned(t *testing.T) {
	t.Parallel()
	_, public := key('a')
	private, _ := key('a')
	text := `cotter mirror entry v1
source registry.example.com/acme/net/aws
version 1.2.3
package git::https://example.com/net.git//sub?ref=08f1a659885b11db83a8e987c65c5e6dec1497b9
hashes h1:CNCjfeE54kv0fs+TnDqsglbDHglTinMlmxa6sLTNZ1A= t1:rG7cDV8qNG+y3QksUdumev+6VkK2hnjCKAZj6Vgm0F8=
layer sha256:` + strings.Repeat("01", 32) + "\n"
	got := signed(t, private)
	if len(got.Signatures) != 1 || !ed25519.Verify(public, []byte(text), got.Signatures[0].Value) {
		t.Errorf("the signature is not that of\n%s", text)
	}
	if id := artifact.KeyID(public); id != got.Signatures[0].KeyID || id != "af9073360066253d" {
		t.Errorf("the key is %s, want that of the signature, %s", id, got.Signatures[0].KeyID)
	}
}

func TestCheckSigned(t *testing.T) {
	t.Parallel()
	a, publicA := key('a')
	b, publicB := key('b')
	other := func(change func(*artifact.Module)) artifact.Module {
		changed := signed(t, a)
		change(&changed)
		return changed
	}
	for _, test := range []struct {
		name string
		a    artifact.Module
		keys []ed25519.PublicKey
		want string
	}{
		{"signed", signed(t, a), []ed25519.PublicKey{publicA}, ""},
		{"signed by one of two keys", signed(t, b), []ed25519.PublicKey{publicA, publicB}, ""},
		{"signed by two", signed(t, a, b), []ed25519.PublicKey{publicB}, ""},
		{"signed twice", signed(t, a, a), []ed25519.PublicKey{publicA}, ""},
		{"not signed", signed(t), []ed25519.PublicKey{publicA}, "it is not signed"},
		{"signed by another", signed(t, b), []ed25519.PublicKey{publicA}, "it is signed by the key " + artifact.KeyID(publicB) + ", which is not one of the trusted keys"},
		{"no keys", signed(t, a), nil, "it is signed by the key " + artifact.KeyID(publicA) + ", which is not one of the trusted keys"},
		{"another source", other(func(a *artifact.Module) { a.Statement.Source += "x" }), []ed25519.PublicKey{publicA}, "its signature by the key " + artifact.KeyID(publicA) + " is wrong"},
		{"another version", other(func(a *artifact.Module) { a.Statement.Version = "" }), []ed25519.PublicKey{publicA}, "is wrong"},
		{"another package", other(func(a *artifact.Module) { a.Statement.Package = "" }), []ed25519.PublicKey{publicA}, "is wrong"},
		{"another hash", other(func(a *artifact.Module) { a.Statement.Hashes = a.Statement.Hashes[:1] }), []ed25519.PublicKey{publicA}, "is wrong"},
		{"another layer", other(func(a *artifact.Module) { a.Layer.Digest = strings.Replace(a.Layer.Digest, "01", "10", 1) }), []ed25519.PublicKey{publicA}, "is wrong"},
		{"a line feed", other(func(a *artifact.Module) { a.Statement.Version = "1\npackage x" }), []ed25519.PublicKey{publicA}, "control characters"},
	} {
		err := test.a.CheckSigned(test.keys)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %q", test.name, err, test.want)
		}
	}
}

func TestSignedManifest(t *testing.T) {
	t.Parallel()
	a, _ := key('a')
	b, _ := key('b')
	want := signed(t, a, b)
	text, err := want.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	got, err := artifact.ParseModule(text)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ParseModule: %v (-want +got):\n%s", err, diff)
	}
	id := want.Signatures[0].KeyID
	for _, replacement := range []string{"", "x" + id[1:], id + "0", id + ":x"} {
		changed := strings.Replace(string(text), id, replacement, 1)
		if _, err := artifact.ParseModule([]byte(changed)); err == nil || !strings.Contains(err.Error(), "is not a signature") {
			t.Errorf("with %q for the key: error is %v", replacement, err)
		}
	}
	full := someArtifact()
	for range 9 {
		full.Signatures = append(full.Signatures, want.Signatures[0])
	}
	if text, err = full.Manifest(); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.ParseModule(text); err == nil || !strings.Contains(err.Error(), "9 signatures") {
		t.Errorf("with 9 signatures: error is %v", err)
	}
}
