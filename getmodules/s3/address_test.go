package s3_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// addressTests list addresses with their parts and the URL that is requested.
var addressTests = []struct {
	address string
	want    [5]string // endpoint, region, bucket, key, version
	asked   string
}{
	{"https://s3.amazonaws.com/bucket/k.zip", [...]string{"", "us-east-1", "bucket", "k.zip", ""}, "https://bucket.s3.us-east-1.amazonaws.com/k.zip"},
	{"https://s3-eu-west-1.amazonaws.com/bucket/a/k.zip", [...]string{"", "eu-west-1", "bucket", "a/k.zip", ""}, "https://bucket.s3.eu-west-1.amazonaws.com/a/k.zip"},
	{"https://s3.eu-west-1.amazonaws.com/bucket/k.zip", [...]string{"", "eu-west-1", "bucket", "k.zip", ""}, "https://bucket.s3.eu-west-1.amazonaws.com/k.zip"},
	{"https://bucket.s3-eu-west-1.amazonaws.com/a/k.zip", [...]string{"", "eu-west-1", "bucket", "a/k.zip", ""}, "https://bucket.s3.eu-west-1.amazonaws.com/a/k.zip"},
	{"https://bucket.s3.eu-west-1.amazonaws.com/k.zip?version=7", [...]string{"", "eu-west-1", "bucket", "k.zip", "7"}, "https://bucket.s3.eu-west-1.amazonaws.com/k.zip?versionId=7"},
	{"https://s3.us-gov-west-1.amazonaws.com/bucket/k.zip", [...]string{"", "us-gov-west-1", "bucket", "k.zip", ""}, "https://bucket.s3.us-gov-west-1.amazonaws.com/k.zip"},
	{"https://bucket.s3.cn-north-1.amazonaws.com.cn/k.zip", [...]string{"", "cn-north-1", "bucket", "k.zip", ""}, "https://bucket.s3.cn-north-1.amazonaws.com.cn/k.zip"},
	{"https://bucket.s3.eusc-de-east-1.amazonaws.eu/k.zip", [...]string{"", "eusc-de-east-1", "bucket", "k.zip", ""}, "https://bucket.s3.eusc-de-east-1.amazonaws.eu/k.zip"},
	{"https://bucket.s3.us-iso-east-1.c2s.ic.gov/k.zip", [...]string{"", "us-iso-east-1", "bucket", "k.zip", ""}, "https://bucket.s3.us-iso-east-1.c2s.ic.gov/k.zip"},
	{"https://bucket.s3.us-isob-east-1.sc2s.sgov.gov/k.zip", [...]string{"", "us-isob-east-1", "bucket", "k.zip", ""}, "https://bucket.s3.us-isob-east-1.sc2s.sgov.gov/k.zip"},
	{"https://bucket.s3.eu-isoe-west-1.cloud.adc-e.uk/k.zip", [...]string{"", "eu-isoe-west-1", "bucket", "k.zip", ""}, "https://bucket.s3.eu-isoe-west-1.cloud.adc-e.uk/k.zip"},
	{"https://bucket.s3.us-isof-south-1.csp.hci.ic.gov/k.zip", [...]string{"", "us-isof-south-1", "bucket", "k.zip", ""}, "https://bucket.s3.us-isof-south-1.csp.hci.ic.gov/k.zip"},
	{"https://h.example/bucket/k.zip", [...]string{"https://h.example", "us-east-1", "bucket", "k.zip", ""}, "https://h.example/bucket/k.zip"},
	{"http://h.example:9000/bucket/k.zip?region=x&version=7", [...]string{"http://h.example:9000", "x", "bucket", "k.zip", "7"}, "http://h.example:9000/bucket/k.zip?versionId=7"},
	{"https://evilamazonaws.com/bucket/k.zip", [...]string{"https://evilamazonaws.com", "us-east-1", "bucket", "k.zip", ""}, "https://evilamazonaws.com/bucket/k.zip"},
	{"https://s3.amazonaws.com:8443/bucket/k.zip", [...]string{"https://s3.amazonaws.com:8443", "us-east-1", "bucket", "k.zip", ""}, "https://s3.amazonaws.com:8443/bucket/k.zip"},
	{"https://h.example/bucket/a%20+%2525.zip", [...]string{"https://h.example", "us-east-1", "bucket", "a +%25.zip", ""}, "https://h.example/bucket/a%20%2B%2525.zip"},
	{"https://h.example/bucket/net", [...]string{"https://h.example", "us-east-1", "bucket", "net", ""}, "https://h.example/bucket?list-type=2&prefix=net%2F"},
	{"https://h.example/bucket/net/", [...]string{"https://h.example", "us-east-1", "bucket", "net/", ""}, "https://h.example/bucket?list-type=2&prefix=net%2F"},
	{"https://h.example/bucket", [...]string{"https://h.example", "us-east-1", "bucket", "", ""}, "https://h.example/bucket?list-type=2&prefix="},
	{"https://bucket.s3.eu-west-1.amazonaws.com", [...]string{"", "eu-west-1", "bucket", "", ""}, "https://bucket.s3.eu-west-1.amazonaws.com/?list-type=2&prefix="},
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range addressTests {
		at, err := addrs.ParseModulePackage("s3::" + test.address).Location()
		testenv.Must(t, err)
		got, err := s3.ParseAddress(at)
		if err != nil {
			t.Errorf("ParseAddress(%q): %v", test.address, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ParseAddress(%q) (-want +got):\n%s", test.address, diff)
		}
		var net recorder
		getter := &s3.Getter{HTTPClient: &http.Client{Transport: &net}, Endpoints: endpointsOf("s3::" + test.address)}
		if _, _, err := fetch(t, &getmodules.Fetcher{Getters: getters(getter)}, "s3::"+test.address); err == nil {
			t.Errorf("%q: there is no error", test.address)
		}
		if diff := cmp.Diff([]string{test.asked}, net.asked); diff != "" {
			t.Errorf("%q asks for (-want +got):\n%s", test.address, diff)
		}
	}
}

func checkWire(t *testing.T, at addrs.Location, bucket, key string) {
	var net recorder
	own := addrs.ParseModulePackage("s3::"+at.URL().String()).Without("aws_profile", "aws_access_key_id", "aws_access_key_secret").
		WithArg("aws_access_key_id", "AKID22").WithArg("aws_access_key_secret", "hunter22")
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": &s3.Getter{HTTPClient: &http.Client{Transport: &net}}}}
	if _, _, err := fetch(t, f, own.String()); err == nil {
		t.Errorf("%q: there is no error", at.URL())
	}
	for _, asked := range net.asked {
		u, err := url.Parse(asked)
		testenv.Must(t, err)
		sent, err := addrs.LocationOf(u)
		got := sent.Bucket()
		switch {
		case err != nil:
		case at.Bucket().Service == "":
			got = addrs.Bucket{Endpoint: u.Scheme + "://" + u.Host, Name: sent.Path()[0]}
			if at.Bucket().Endpoint != got.Endpoint {
				t.Errorf("%q is sent to %q", at.URL(), asked)
			}
		case at.Bucket().Service != got.Service:
			t.Errorf("%q is sent to %q", at.URL(), asked)
		}
		path := strings.TrimPrefix(u.Path, "/")
		if !strings.HasPrefix(u.Host, bucket+".") {
			path = strings.TrimPrefix(path, bucket+"/")
		}
		if err != nil || got.Name != bucket || !u.Query().Has("list-type") && path != key || u.Query().Has("list-type") && !strings.HasPrefix(u.Query().Get("prefix"), key) {
			t.Errorf("%q has bucket %q and key %q, but %q is sent (%v)", at.URL(), bucket, key, asked, err)
		}
	}
}

// recorder is a transport that records each request and answers it with 403.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	u := *request.URL
	query := u.Query()
	query.Del("x-id") // the name of the operation
	u.RawQuery = query.Encode()
	r.mu.Lock()
	r.asked = append(r.asked, u.String())
	r.mu.Unlock()
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: http.NoBody, Request: request}, nil
}

// Package addrs tests what is no address of S3 at all.
func TestAddressesRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://s3.amazonaws.com/b.zip", "https://example.com/k.zip", "https://u:p@example.com/b/k.zip", "https://example.com/b/k.zip#1",
		"https://example.com/b/k?version=1", "https://us-west-2.amazonaws.com/s3/b/k.zip", "https://.amazonaws.com/b/k.zip", "https://s3.amazonaws.com/?archive=zip",
		"https://example.com/b/k.zip?region=evil.example", "https://example.com/b/k.zip?region=a%2Fb", "https://example.com/b/k.zip?region=" + strings.Repeat("a", 64),
		"https://example.com/usw2-az1--x-s3/k.zip", "https://example.com/a-usw2-az1--xa-s3/k.zip", "https://example.com/net-o01234567890123456789012345678901234567890--op-s3/k.zip",
	} {
		var net recorder
		getter := &s3.Getter{HTTPClient: &http.Client{Transport: &net}, Endpoints: endpointsOf("s3::" + address)}
		if _, _, err := fetch(t, &getmodules.Fetcher{Getters: getters(getter)}, "s3::"+address); err == nil || len(net.asked) != 0 {
			t.Errorf("%s: error is %v, asked is %q", address, err, net.asked)
		}
	}
}

// FuzzAddress checks that an address points to the host that it names, and that only
// Amazon's host names point to Amazon.
func FuzzAddress(f *testing.F) {
	for _, test := range addressTests {
		f.Add(test.address)
	}
	f.Add("http://%2525/0")
	f.Add("https://s3.amazonaws.com/bucket/bucket/k.zip")
	f.Fuzz(func(t *testing.T, raw string) {
		at, err := addrs.ParseModulePackage("s3::" + raw).Location()
		if err != nil {
			return
		}
		u := at.URL()
		got, err := s3.ParseAddress(at)
		if err != nil {
			return
		}
		endpoint, region, bucket := got[0], got[1], got[2]
		if region == "" || bucket == "" || strings.Contains(bucket, "/") {
			t.Errorf("%q becomes %q", raw, got)
		}
		if endpoint == "" && !strings.Contains(u.Host, ".") || endpoint != "" && endpoint != u.Scheme+"://"+u.Host {
			t.Errorf("%q points to %q", raw, endpoint)
		}
		checkWire(t, at, bucket, got[3])
	})
}
