package s3_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestUnnamedServer checks that a server that only the address names gets no credentials of the
// user, and no request.
func TestUnnamedServer(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{
		"https://minio.example", "http://minio.example", "https://192.0.2.1:9000", "https://s3.amazonaws.com:8443", "https://evilamazonaws.com",
		"https://s3.eu-west-1.api.aws", "http://named.example", "https://named.example:8443", "https://x.named.example",
	} {
		for _, arguments := range []string{"", "?region=eu-west-1", "?aws_profile=one", "?aws_profile=one&aws_access_key_id=AKID22&aws_access_key_secret=hunter22"} {
			var net recorder
			getter := &s3.Getter{
				HTTPClient: &http.Client{Transport: &net}, MetadataURL: "http://127.0.0.1:1",
				Endpoints: []string{"https://named.example", "https://named.example.example", "named.example", "", "%"},
			}
			if strings.Contains(arguments, "profile") {
				getter.MetadataURL = ""
			}
			_, _, err := fetch(t, &getmodules.Fetcher{Getters: getters(getter)}, "s3::"+endpoint+"/b/net.zip"+arguments)
			refused, ok := errors.AsType[*s3.CredentialsError](err)
			if !strings.Contains(arguments, "profile") && (!ok || refused.Endpoint != endpoint) || err == nil || len(net.asked) != 0 {
				t.Errorf("%s%s: error is %v, want a CredentialsError for it; asked is %q", endpoint, arguments, err, net.asked)
			}
		}
	}
}

// TestNamedServer checks which endpoints in the user's own list are the server of an address.
func TestNamedServer(t *testing.T) {
	t.Parallel()
	for named, endpoint := range map[string]string{
		"https://minio.example":         "https://minio.example",
		"https://MINIO.example:443/":    "https://minio.example",
		"https://minio.example.":        "https://minio.example:443",
		"http://minio.example:9000":     "http://minio.example:9000",
		"http://[::1]:9000":             "http://[::1]:9000",
		"https://m\u00fcnchen.example":  "https://xn--mnchen-3ya.example",
		"https://s3.amazonaws.com:8443": "https://s3.amazonaws.com:8443",
	} {
		var net recorder
		getter := &s3.Getter{HTTPClient: &http.Client{Transport: &net}, Endpoints: []string{"https://other.example", named}}
		_, _, err := fetch(t, &getmodules.Fetcher{Getters: getters(getter)}, "s3::"+endpoint+"/b/net.zip")
		if !errors.Is(err, fs.ErrPermission) || len(net.asked) != 1 {
			t.Errorf("%s, where the user named %s: error is %v, asked is %q", endpoint, named, err, net.asked)
		}
	}
}

// TestServerOfConfiguration does not run in parallel, because the SDK reads the environment.
func TestServerOfConfiguration(t *testing.T) {
	server := newLogins(t)
	file := filepath.Join(t.TempDir(), "config")
	profiles := "[profile one]\naws_access_key_id = AKIDONE\naws_secret_access_key = one\nendpoint_url = " + server.URL +
		"\n\n[profile two]\naws_access_key_id = AKIDTWO\naws_secret_access_key = two\nservices = local\n\n[services local]\ns3 =\n  endpoint_url = " + server.URL +
		"\n\n[profile three]\naws_access_key_id = AKIDTHREE\naws_secret_access_key = three\n"
	testenv.Must(t, os.WriteFile(file, []byte(profiles), 0o600))
	t.Setenv("AWS_CONFIG_FILE", file)
	tests := map[string]struct {
		env, value, arguments string
		from                  getmodules.Request
		want                  string // the id of the key; "" if the request is refused
	}{
		"nothing":                      {},
		"variable for S3":              {env: "AWS_ENDPOINT_URL_S3", value: server.URL, want: "AKIDENVIRONMENT"},
		"variable for all":             {env: "AWS_ENDPOINT_URL", value: server.URL, want: "AKIDENVIRONMENT"},
		"variable for another":         {env: "AWS_ENDPOINT_URL", value: "http://127.0.0.1:1"},
		"variable for a name of it":    {env: "AWS_ENDPOINT_URL", value: strings.Replace(server.URL, "127.0.0.1", "localhost", 1)},
		"profile":                      {arguments: "?aws_profile=one", want: "AKIDONE"},
		"services of a profile":        {arguments: "?aws_profile=two", want: "AKIDTWO"},
		"profile without a server":     {arguments: "?aws_profile=three"},
		"default profile":              {env: "AWS_PROFILE", value: "one", want: "AKIDENVIRONMENT"},
		"profile of a package":         {arguments: "?aws_profile=one", from: getmodules.Request{FromPackage: true, Origin: server.URL}},
		"profile of a server":          {arguments: "?aws_profile=one", from: getmodules.Request{FromServer: true, Origin: server.URL}},
		"profile of a package, named":  {env: "AWS_ENDPOINT_URL_S3", value: server.URL, arguments: "?aws_profile=one", from: getmodules.Request{FromPackage: true, Origin: server.URL}, want: "AKIDENVIRONMENT"},
		"profile of a server, named":   {env: "AWS_ENDPOINT_URL_S3", value: server.URL, arguments: "?aws_profile=one", from: getmodules.Request{FromServer: true, Origin: server.URL}, want: "AKIDENVIRONMENT"},
		"key of a package":             {arguments: "?aws_access_key_id=AKID22&aws_access_key_secret=hunter22", from: getmodules.Request{FromPackage: true, Origin: server.URL}, want: "AKID22"},
		"key and profile of a package": {arguments: "?aws_access_key_id=AKID22&aws_access_key_secret=hunter22&aws_profile=one", from: getmodules.Request{FromPackage: true, Origin: server.URL}, want: "AKID22"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.env != "" {
				t.Setenv(test.env, test.value)
			}
			server.seen = nil
			test.from.Package = addrs.ParseModulePackage("s3::" + server.URL + "/b/net.zip" + test.arguments)
			_, _, err := testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
				test.from.Dir = dir
				return (&getmodules.Fetcher{Getters: getters(new(s3.Getter))}).Fetch(t.Context(), test.from)
			})
			_, refused := errors.AsType[*s3.CredentialsError](err)
			var want []string
			if test.want != "" {
				want = []string{test.want + " us-east-1"}
			}
			if diff := cmp.Diff(want, server.seen); diff != "" || refused != (want == nil) || want != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error is %v; signed by (-want +got):\n%s", err, diff)
			}
			isIgnored := strings.Contains(test.arguments, "profile") && (test.from.FromPackage || test.from.FromServer)
			if strings.Contains(err.Error(), "aws_profile is ignored") != isIgnored {
				t.Errorf("error is %v, which says that a profile is ignored: want %t", err, isIgnored)
			}
		})
	}
}

// TestServerInsteadOfAmazon checks that the server that the user's configuration names is asked for
// Amazon's addresses too, as for LocalStack. It does not run in parallel, because the SDK reads the environment.
func TestServerInsteadOfAmazon(t *testing.T) {
	var net recorder
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://localstack.example:4566")
	f := &getmodules.Fetcher{Getters: getters(&s3.Getter{HTTPClient: &http.Client{Transport: &net}})}
	if _, _, err := fetch(t, f, "s3::https://s3.amazonaws.com/modules/net.zip"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error is %v, want that of the server", err)
	}
	if _, _, err := fetch(t, f, "s3::https://s3.amazonaws.com/usw2-az1--x-s3/net.zip"); err == nil || errors.Is(err, fs.ErrPermission) {
		t.Errorf("error is %v, want that such a bucket exists only at Amazon", err)
	}
	if diff := cmp.Diff([]string{"http://modules.localstack.example:4566/net.zip"}, net.asked); diff != "" {
		t.Errorf("asked is (-want +got):\n%s", diff)
	}
}

// TestServerOnThisMachine checks that a package may have an address of Amazon if the user's
// configuration names a server on this machine for them. It does not run in parallel, because the SDK
// reads the environment.
func TestServerOnThisMachine(t *testing.T) {
	server := newLogins(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	from := getmodules.Request{
		Package: addrs.ParseModulePackage("s3::https://s3.amazonaws.com/modules/net.zip"), FromPackage: true, Origin: "https://packages.example",
	}
	f := &getmodules.Fetcher{Getters: getters(new(s3.Getter))}
	if _, _, err := testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		from.Dir = dir
		return f.Fetch(t.Context(), from)
	}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, want that of the server", err)
	}
	if diff := cmp.Diff([]string{"AKIDENVIRONMENT us-east-1"}, server.seen); diff != "" {
		t.Errorf("signed by (-want +got):\n%s", diff)
	}
}
