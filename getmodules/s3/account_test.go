package s3_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// logins is a server that only records the credentials of its requests.
type logins struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // the key id and the region of each signature, and the session token
}

func newLogins(t *testing.T) *logins {
	t.Helper()
	l := &logins{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		scope := append(strings.Split(credential, "/"), "", "", "")
		l.mu.Lock()
		l.seen = append(l.seen, strings.TrimSpace(scope[0]+" "+scope[2]+" "+r.Header.Get("X-Amz-Security-Token")))
		l.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(l.Close)
	return l
}

// Incomplete credentials in an address are not completed by those of the environment.
func TestLogin(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"":             "AKIDENVIRONMENT us-east-1",
		"?region=eu-1": "AKIDENVIRONMENT eu-1",
		"?aws_access_key_id=AKID22&aws_access_key_secret=hunter22":                            "AKID22 us-east-1",
		"?aws_access_key_id=AKID22&aws_access_key_secret=hunter22&aws_access_token=session22": "AKID22 us-east-1 session22",
		"?aws_access_key_id=AKID22":       "",
		"?aws_access_key_secret=hunter22": "",
		"?aws_access_token=session22":     "",
		"?aws_access_key_id=":             "",
	} {
		server := newLogins(t)
		_, _, err := fetch(t, new(getmodules.Fetcher), "s3::"+server.URL+"/b/net.zip"+arguments)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "no credentials")) || want != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error is %v, signed by %q", arguments, err, want)
		}
		if got := strings.Join(server.seen, ", "); got != want {
			t.Errorf("%s is signed by %q, want %q", arguments, got, want)
		}
	}
}

// TestMetadata checks that an instance's credentials are requested once for several
// downloads and take precedence over the environment. Credentials in the address take
// precedence over both.
func TestMetadata(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "600")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "/"):
			fmt.Fprint(w, "role")
		default:
			asked++
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"AKIDINSTANCE","SecretAccessKey":"instance","Token":"session","Expiration":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		}
	}))
	t.Cleanup(instance.Close)
	server := newLogins(t)
	f := &getmodules.Fetcher{Getters: getters(&s3.Getter{MetadataURL: instance.URL, Endpoints: []string{server.URL}})}
	for _, arguments := range []string{"", "", "?aws_access_key_id=AKID22&aws_access_key_secret=hunter22"} {
		if _, _, err := fetch(t, f, "s3::"+server.URL+"/b/net.zip"+arguments); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error is %v, want fs.ErrNotExist", arguments, err)
		}
	}
	if diff := cmp.Diff([]string{"AKIDINSTANCE us-east-1 session", "AKIDINSTANCE us-east-1 session", "AKID22 us-east-1"}, server.seen); diff != "" || asked != 1 {
		t.Errorf("the instance was asked %d times; signed by (-want +got):\n%s", asked, diff)
	}
}

// TestProfile does not run in parallel, because the SDK finds profiles through environment
// variables.
func TestProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	const profiles = "[profile one]\naws_access_key_id = AKIDONE\naws_secret_access_key = one\nregion = eu-one\n\n[profile two]\naws_access_key_id = AKIDTWO\naws_secret_access_key = two\n"
	testenv.Must(t, os.WriteFile(file, []byte(profiles), 0o600))
	t.Setenv("AWS_CONFIG_FILE", file)
	server := newLogins(t)
	address := "s3::" + server.URL + "/b/net.zip?region=eu-address&aws_profile="
	for _, profile := range []string{"one", "two"} {
		if _, _, err := fetch(t, new(getmodules.Fetcher), address+profile); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error is %v, want fs.ErrNotExist", profile, err)
		}
	}
	if diff := cmp.Diff([]string{"AKIDONE eu-one", "AKIDTWO eu-address"}, server.seen); diff != "" {
		t.Errorf("signed by (-want +got):\n%s", diff)
	}
	if _, _, err := fetch(t, new(getmodules.Fetcher), address+"three"); err == nil || !strings.Contains(err.Error(), "configuration of AWS") {
		t.Errorf("error is %v, want that the configuration cannot be used", err)
	}
}

// TestNoLogin does not run in parallel, because it removes credentials from the
// environment.
func TestNoLogin(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	server := newLogins(t)
	_, _, err := fetch(t, new(getmodules.Fetcher), "s3::"+server.URL+"/b/net.zip")
	if _, ok := errors.AsType[*s3.NoCredentialsError](err); !ok || len(server.seen) != 0 {
		t.Errorf("error is %v, want what to do; signed %q", err, server.seen)
	}
}

// TestCABundle does not run in parallel, because the SDK finds the certificates through an
// environment variable.
func TestCABundle(t *testing.T) {
	archive := zipOf(t, "x")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) }))
	t.Cleanup(server.Close)
	address := "s3::" + server.URL + "/b/net.zip"
	f := &getmodules.Fetcher{Getters: getters(&s3.Getter{HTTPClient: server.Client(), Endpoints: []string{server.URL}})}
	if _, _, err := fetch(t, f, address); err != nil {
		t.Errorf("by the client that is given: %v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	testenv.Must(t, os.WriteFile(file, bytes.TrimSpace(text), 0o600))
	t.Setenv("AWS_CA_BUNDLE", file)
	f.Getters = getters(&s3.Getter{HTTPClient: new(http.Client), Endpoints: []string{server.URL}})
	if _, _, err := fetch(t, f, address); err != nil {
		t.Errorf("by the certificates of the environment: %v", err)
	}
}
