package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/modtest"
)

const secret = "canary-token-4711"

// noSecret checks that no file in a directory contains the secret.
func noSecret(t *testing.T, dir string) {
	t.Helper()
	for name, text := range picture(t, dir) {
		if strings.Contains(name+text, secret) {
			t.Errorf("%s has the secret", name)
		}
	}
}

// buckets is an HTTP server that acts as S3 and as Google Cloud Storage, with a directory of
// one file, and as an instance's metadata service.
type buckets struct {
	*httptest.Server
	mu     sync.Mutex
	logins []string // the credentials of the requests to the clouds
}

func newBuckets(t *testing.T) *buckets {
	t.Helper()
	b := &buckets{}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

func (b *buckets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/latest/api/token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "600")
		fmt.Fprint(w, "token")
		return
	case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
		fmt.Fprint(w, "role")
		return
	case strings.HasSuffix(r.URL.Path, "/security-credentials/role"):
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"INSTANCE","SecretAccessKey":%q,"Token":"t","Expiration":%q}`, secret, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		return
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, "<ListBucketResult><Contents><Key>net/main.tf</Key></Contents></ListBucketResult>")
	case strings.HasSuffix(r.URL.Path, "/o"):
		fmt.Fprint(w, `{"items":[{"name":"net/main.tf"}]}`)
	default:
		fmt.Fprint(w, "# a module\n")
	}
	login := r.Header.Get("Authorization") + " " + r.Header.Get("X-Goog-User-Project")
	if _, signed, ok := strings.Cut(login, "Credential="); ok {
		login, _, _ = strings.Cut(signed, "/")
	}
	b.mu.Lock()
	b.logins = append(b.logins, login)
	b.mu.Unlock()
}

// TestClouds installs with each of the variables that the command itself reads for S3 and
// Google Cloud Storage. Secrets in them must not be printed.
func TestClouds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		env    []string
		login  string
	}{
		"gcs": {"gcs::https://www.googleapis.com/storage/v1/b/net", []string{
			"STORAGE_EMULATOR_HOST=SERVER", "GOOGLE_OAUTH_ACCESS_TOKEN=" + secret, "GOOGLE_CLOUD_QUOTA_PROJECT=project",
		}, "Bearer " + secret + " project"},
		"gcs by URL": {"gcs::https://www.googleapis.com/storage/v1/b/net", []string{"STORAGE_EMULATOR_HOST=http://SERVER"}, " "},
		"s3":         {"s3::http://SERVER/b/net", []string{"AWS_METADATA_URL=http://SERVER", "AWS_ENDPOINT_URL_S3=http://SERVER"}, "INSTANCE"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newBuckets(t)
			expand := strings.NewReplacer("SERVER", strings.TrimPrefix(server.URL, "http://")).Replace
			s := newSite(t, modtest.New(t, fstest.MapFS{}))
			s.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", expand(test.source)))
			end := s.run("install", lists.Map(test.env, expand)...)
			if end.status != 0 || strings.Contains(end.out, secret) || strings.Contains(end.out, "SDK") {
				t.Errorf("cotter install: status %d\n%s", end.status, end.out)
			}
			noSecret(t, s.base)
			if diff := cmp.Diff([]string{test.login, test.login}, server.logins); diff != "" {
				t.Errorf("the server saw (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCertificateBehindPage checks that a bad certificate of a server of S3 is that server's fault, and
// not that of the page or the registry that points to it.
func TestCertificateBehindPage(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	host := strings.TrimPrefix(other.URL, "https://")
	location := http.Header{"X-Terraform-Get": {"s3::" + other.URL + "/bucket/x.zip?aws_access_key_id=AKIDEXAMPLE&aws_access_key_secret=" + secret}}
	for name, test := range map[string]struct {
		source, path, says string
		status             int
	}{
		"page":     {"https://MODTEST_HOST/files/page", "/files/page", "; the page https://HOST/files/page points there", http.StatusOK},
		"registry": {"MODTEST_HOST/acme/net/aws", "/v1/modules/acme/net/aws/1.0.0/download", "", http.StatusNoContent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, modtest.New(t, modtest.Txtar("-- registry/acme/net/aws/1.0.0/main.tf --\n-- files/page --\n")), "AWS_MAX_ATTEMPTS=1", "AWS_EC2_METADATA_DISABLED=true")
			s.world.SetFaults(modtest.Fault{Path: test.path, Status: test.status, Header: location})
			s.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", test.source))
			end := s.run("install")
			want := host + "'s certificate is not trusted: it is signed by an unknown authority" + strings.ReplaceAll(test.says, "HOST", string(s.world.Host()))
			if end.status == 0 || !strings.Contains(end.out, want+"\n") || strings.Contains(end.out, secret) {
				t.Errorf("cotter install: status %d, want %q\n%s", end.status, want, end.out)
			}
		})
	}
}
