package policy_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

// TestBuckets checks that a bucket is one place under all its addresses.
func TestBuckets(t *testing.T) {
	t.Parallel()
	for _, group := range []struct{ patterns, same, other []string }{
		{
			patterns: []string{
				"s3.amazonaws.com/evil", "s3.eu-west-1.amazonaws.com/evil", "s3-eu-west-1.amazonaws.com/evil", "evil.s3.amazonaws.com",
				"evil.s3.eu-west-1.amazonaws.com", "evil.s3-us-west-2.amazonaws.com", "s3.dualstack.eu-west-1.amazonaws.com/evil", "S3.AMAZONAWS.COM./evil",
			},
			same: []string{
				"s3::https://s3.amazonaws.com/evil/x.zip", "s3::https://s3.eu-west-1.amazonaws.com/evil/x.zip", "s3::https://s3-eu-west-1.amazonaws.com/evil/x.zip",
				"s3::https://evil.s3.eu-west-1.amazonaws.com/x.zip", "s3::https://evil.s3-eu-west-1.amazonaws.com/x.zip", "s3::http://S3.amazonaws.com:80/evil/x.zip",
				"evil.s3.amazonaws.com/x.zip", "https://evil.s3.amazonaws.com/x.zip", "https://s3.dualstack.eu-west-1.amazonaws.com/evil/x.zip",
			},
			other: []string{
				"s3::https://s3.amazonaws.com/acme/evil/x.zip", "s3::https://s3.cn-north-1.amazonaws.com.cn/evil/x.zip", "s3::https://minio.example/evil/x.zip",
				"s3::https://acme.s3.eu-west-1.amazonaws.com/evil/x.zip", "https://evil.ec2.amazonaws.com/x.zip", "https://evil.example/s3.amazonaws.com/evil/x.zip",
			},
		},
		{
			patterns: []string{"s3.amazonaws.com/acme/evil", "acme.s3.eu-west-1.amazonaws.com/evil", "*.s3.amazonaws.com/evil"},
			same:     []string{"s3::https://s3.amazonaws.com/acme/evil/x.zip", "s3::https://s3.amazonaws.com/acme%2Fevil/x.zip", "s3::https://acme.s3.eu-west-1.amazonaws.com/evil/x.zip"},
			other:    []string{"s3::https://s3.amazonaws.com/acme/good/x.zip", "s3::https://s3.amazonaws.com/evil/acme/x.zip"},
		},
		{
			patterns: []string{"s3.eu-west-1.amazonaws.com", "s3-eu-west-1.amazonaws.com"},
			same:     []string{"s3::https://s3.eu-west-1.amazonaws.com/evil/x.zip", "s3::https://s3-eu-west-1.amazonaws.com/evil/x.zip"},
			other:    []string{"s3::https://s3.us-west-2.amazonaws.com/evil/x.zip", "s3::https://s3.amazonaws.com/evil/x.zip"},
		},
		{
			patterns: []string{
				"storage.googleapis.com/evil", "www.googleapis.com/storage/v1/evil", "evil.storage.googleapis.com",
				"storage.googleapis.com/storage/v1/b/evil", "www.googleapis.com/storage/v1/b/evil/o",
			},
			same: []string{
				"gcs::https://www.googleapis.com/storage/v1/evil/x.zip", "gcs::https://storage.googleapis.com/storage/v1/evil/x.zip",
				"https://storage.googleapis.com/evil/x.zip", "https://evil.storage.googleapis.com/x.zip", "https://storage.googleapis.com/storage/v1/b/evil/o/x.zip?alt=media",
				"https://www.googleapis.com/download/storage/v1/b/evil/o/x.zip?alt=media",
			},
			other: []string{"gcs::https://www.googleapis.com/storage/v1/acme/evil/x.zip", "https://storage.googleapis.com/acme/evil/x.zip"},
		},
		{
			patterns: []string{"storage.googleapis.com/acme/a/b"},
			same:     []string{"gcs::https://www.googleapis.com/storage/v1/acme/a%2Fb/x.zip", "gcs::https://www.googleapis.com/storage/v1/acme/a/b/x.zip"},
		},
	} {
		for _, text := range group.patterns {
			for _, address := range group.same {
				checkPattern(t, text, source(t, address), true, true)
			}
			for _, address := range group.other {
				checkPattern(t, text, source(t, address), false, false)
			}
		}
	}
}

func checkPattern(t *testing.T, text string, source addrs.ModuleSource, allows, denies bool) {
	t.Helper()
	p := pattern(t, text)
	if err := (&policy.Policy{Allow: []policy.Pattern{p}}).CheckCall(policy.Call{Source: source}); (err == nil) != allows {
		t.Errorf("%q among the allowed: %q gives %v", text, source, err)
	}
	err := (&policy.Policy{Deny: []policy.Pattern{p}}).CheckCall(policy.Call{Source: source})
	if (err != nil) != denies {
		t.Errorf("%q among the denied: %q gives %v", text, source, err)
	}
	if violation := (*policy.Violation)(nil); err != nil && !errors.As(err, &violation) {
		t.Errorf("%q: error %v is no *Violation", source, err)
	}
}

// TestDeniedRequests checks that requests to a bucket or an element are denied in the spelling of the
// server's API, too.
func TestDeniedRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, url, want string }{
		{"www.googleapis.com/storage/v1/acme/evil", "https://storage.googleapis.com/storage/v1/b/acme/o/evil%2Fx.zip?alt=media", "denied"},
		{"s3.eu-west-1.amazonaws.com/evil", "https://evil.s3.eu-west-1.amazonaws.com/x.zip?x-id=GetObject", "denied"},
		{"h.example/acme/evil", "https://h.example/acme/evil%5cx.zip", "denied"},
		{"h.example/evil", "https://h.example/acme%2F..%2Fevil/x.zip", `".."`},
		{"h.example/evil", "https://h.example/acme/%2e%2e/evil/x.zip", `".."`},
		{"h.example/evil", "https://h.example/evil%00/x.zip", "control character"},
		{"h.example/evil", "https://h.example//evil/x.zip", "denied"},
		{"h.example/acme/net", "https://h.example/acme/net.GIT/info/refs", "denied"},
	} {
		u, err := url.Parse(tt.url)
		testenv.Must(t, err)
		p := &policy.Policy{Deny: []policy.Pattern{pattern(t, tt.pattern)}}
		if err := p.CheckURL(u); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q in deny_sources: CheckURL(%q) = %v, want an error with %q", tt.pattern, tt.url, err, tt.want)
		}
	}
}
