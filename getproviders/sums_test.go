package getproviders_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

// TestVerifySums checks documents that the caller has downloaded. It needs no registry.
func TestVerifySums(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(packages))
	id, _, err := world.ProviderKey()
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		shape    modtest.ProviderShape
		change   func(document []byte) []byte
		refuse   bool
		err      error
		hashes   []hashing.Hash
		warnings int
	}{
		"signed":                 {shape: modtest.ProviderSigned, hashes: hashesOf(t, world, "zh", linux, darwin)},
		"a malformed line":       {shape: modtest.ProviderMalformedLine},
		"an expired key":         {shape: modtest.ProviderExpiredKey, hashes: hashesOf(t, world, "zh", linux, darwin), warnings: 1},
		"an expired key refused": {shape: modtest.ProviderExpiredKey, refuse: true, err: getproviders.ErrExpiredKey},
		"another document":       {shape: modtest.ProviderSigned, change: func(d []byte) []byte { return append(d, ' ') }, err: getproviders.ErrInvalidSignature},
		"no keys":                {shape: modtest.ProviderNoKeys, err: getproviders.ErrNoKeys},
		"another key":            {shape: modtest.ProviderUnknownKey, err: getproviders.ErrUnknownKey},
	} {
		testenv.Must(t, world.SetProviderShape("acme/cloud", "1.0.0", test.shape))
		found, err := direct(world).Registry.ProviderPackage(t.Context(), cloud(world), v100, linux)
		testenv.Must(t, err)
		document, signature := textAt(t, world, found.SumsURL), textAt(t, world, found.SignatureURL)
		if test.change != nil {
			document = test.change(document)
		}
		auth, err := (&getproviders.Direct{RefuseExpired: test.refuse}).VerifySums(document, signature, found.Keys)
		if test.err != nil {
			failure, ok := errors.AsType[*getproviders.AuthenticationError](err)
			if !errors.Is(err, test.err) || !ok || failure.Error() != failure.Err.Error() {
				t.Errorf("%s: %v, want %v", name, err, test.err)
			}
			continue
		}
		if err != nil || auth.Evidence.Kind != evidence.Signature || test.warnings == 0 && auth.KeyID != id || len(auth.Warnings) != test.warnings {
			t.Errorf("%s: %+v, %v", name, auth, err)
		}
		if diff := cmp.Diff(test.hashes, auth.Hashes); diff != "" {
			t.Errorf("%s: hashes (-want +got):\n%s", name, diff)
		}
	}
	if _, err := new(getproviders.Direct).VerifySums(nil, nil, []registryclient.SigningKey{{}}); err == nil {
		t.Error("an empty document without a signature was accepted")
	}
}

func textAt(t *testing.T, world *modtest.World, at string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	testenv.Must(t, err)
	answer, err := world.HTTPClient().Do(req)
	testenv.Must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	testenv.Must(t, err)
	return text
}
