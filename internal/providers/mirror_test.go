package providers_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/versions"
)

// TestNetworkMirror checks which hashes a lock records for packages of a network mirror. The
// package must match one of the listed hashes, and the hashes that it matches are recorded.
func TestNetworkMirror(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	binary, err := w.Create("terraform-provider-x")
	testenv.Must(t, err)
	if _, err := binary.Write([]byte("binary")); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, w.Close())
	own := hashing.Hash(fmt.Sprintf("zh:%x", sha256.Sum256(packed.Bytes())))
	other := hashing.Hash("zh:" + strings.Repeat("0", 64))
	const (
		h1      = hashing.Hash("h1:vhfF2tkgFi9glzPXt5WdAhWLf8p3ZwqimsbRbA+gUZo=")
		wrongH1 = hashing.Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	)
	for name, test := range map[string]struct {
		listed, want []hashing.Hash // want is nil for a mismatch
	}{
		"nothing is listed":          {nil, []hashing.Hash{h1}},
		"own zh":                     {[]hashing.Hash{own}, []hashing.Hash{h1, own}},
		"those of other platforms":   {[]hashing.Hash{other, own}, []hashing.Hash{h1, own}},
		"own h1":                     {[]hashing.Hash{h1}, []hashing.Hash{h1}},
		"own h1 and another archive": {[]hashing.Hash{h1, other}, nil},
		"another h1":                 {[]hashing.Hash{wrongH1}, nil},
		"another h1 and own zh":      {[]hashing.Hash{wrongH1, own}, []hashing.Hash{h1, own}},
	} {
		quoted := make([]string, len(test.listed))
		for i, h := range test.listed {
			quoted[i] = fmt.Sprintf("%q", h)
		}
		web := webtest.New(t)
		web.Serve("https://mirror.example.com", func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, ".json") {
				_, _ = w.Write(packed.Bytes())
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"archives": {"linux_amd64": {"url": "x.zip", "hashes": [%s]}}}`, strings.Join(quoted, ", "))
		})
		cache := t.TempDir()
		getter := &providers.Getter{
			Source: &getproviders.NetworkMirror{URL: &url.URL{Scheme: "https", Host: "mirror.example.com"}, HTTPClient: web.Client()},
			Rule:   evidencerules.For(evidencerules.Install),
			Store:  store.OpenProviders(cache, t.TempDir(), userkey.Random()),
		}
		got, err := getter.Get(t.Context(), providers.Want{
			Provider: addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: "x"},
			Version:  versions.MustParse("1.0.0"),
			Platform: addrs.Platform{OS: "linux", Arch: "amd64"},
		})
		if _, isMismatch := errors.AsType[*getproviders.MismatchError](err); isMismatch != (test.want == nil) || !isMismatch && err != nil {
			t.Errorf("%s: %v, want a mismatch %v", name, err, test.want == nil)
			continue
		}
		if err == nil && !slices.Equal(got.Proof.Hashes, test.want) {
			t.Errorf("%s: the hashes are %q, want %q", name, got.Proof.Hashes, test.want)
		}
	}
}
