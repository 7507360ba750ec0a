package policy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/policy"
)

func TestParseMirrorErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mirror {\n}\n": "cotter.hcl:1",
		"mirror \"registry.example.com/m\" {\n}\n":                          "mirror: its address must be oci://HOST/REPOSITORY",
		"mirror \"oci://r.example.com\" {\n}\n":                             "mirror: its address must be oci://",
		"mirror \"oci:///m\" {\n}\n":                                        "mirror: its address must be oci://",
		"mirror \"oci://u:p@r.example.com/m\" {\n}":                         "mirror: its address must be oci://",
		"mirror \"oci://r.example.com/*\" {\n}\n":                           "mirror: its address must be oci://",
		"mirror \"oci://r/m\" {\n mode = \"push\"\n}\n":                     `mode: it must be one of ["read" "write"].`,
		"mirror \"oci://r/m\" {\n signed_by = \"a\"\n}\n":                   "signed_by: signatures of mirrors were removed: anyone who can write",
		"mirror \"oci://r/m\" {\n sign_key = \"a\"\n}\n":                    "sign_key: signatures of mirrors were removed",
		"mirror \"oci://r/m\" {\n trust = true\n}\n":                        "trust",
		"mirror \"oci://r/m\" {\n}\nmirror \"oci://R/m\" {\n}\n":            "the first one of oci://r/m is on line 1",
		"settings {\n mirror = \"oci://r/m\"\n}\n":                          "mirror",
		"settings {\n}\nmirror \"oci://r/m\" {\n}\nsettings {\n}\n":         "only one settings block; the first is on line 1",
		"trust_mirrors = []\nmirror \"oci://r/m\" {\n mode = var.mode\n}\n": "Variables not allowed",
	} {
		got, diags := policy.ParseSettings([]byte(text), "cotter.hcl")
		if got != nil || !strings.Contains(diags.Error(), want) {
			t.Errorf("Parse(%q) = %v, %s; want %q", text, got, diags, want)
		}
	}
}

func TestParseUserSettings(t *testing.T) {
	t.Parallel()
	name := filepath.Join("home", "cotter.hcl")
	got, diags := policy.ParseUserSettings([]byte(`
trust_mirrors = ["oci://R.example.com/*", "oci://r.example.com/a/*", "oci://r.example.com/b"]
s3_endpoints  = ["https://minio.example", "http://LOCALHOST:9000/", "http://[::1]:9000"]
mirror "oci://r.example.com/m" {
  mode = "write"
}
`), name)
	want := &policy.UserSettings{
		Mirrors:      []policy.Mirror{{Address: "oci://r.example.com/m", Write: true}},
		TrustMirrors: []policy.MirrorPattern{"oci://r.example.com/*", "oci://r.example.com/a/*", "oci://r.example.com/b"},
		S3Endpoints:  []string{"https://minio.example", "http://LOCALHOST:9000", "http://[::1]:9000"},
	}
	if diff := cmp.Diff(want, got); diff != "" || diags.HasErrors() {
		t.Errorf("ParseUser: %v (-want +got):\n%s", diags, diff)
	}
	for text, want := range map[string]string{
		"settings {\n}\n":                                  "settings",
		"policy {\n}\n":                                    "policy",
		"trust = true\n":                                   "trust",
		"trust_mirrors = \"oci://r/m\"\n":                  "trust_mirrors: it must be a list",
		"trust_mirrors = [1]\n":                            "trust_mirrors: each address must be a string",
		"trust_mirrors = [\"*\"]\n":                        "is not oci://HOST/REPOSITORY",
		"trust_mirrors = [\"oci://*\"]\n":                  "is not oci://HOST/REPOSITORY",
		"trust_mirrors = [\"oci:///*\"]\n":                 "is not oci://HOST/REPOSITORY",
		"trust_mirrors = [\"oci://*.example.com/*\"]\n":    "is not oci://HOST/REPOSITORY",
		"trust_mirrors = [\"oci://r.example.com/m*\"]\n":   "is not oci://HOST/REPOSITORY",
		"trust_mirrors = [\"oci://r.example.com\"]\n":      "is not oci://HOST/REPOSITORY",
		"trust_keys = \"a\"\n":                             "trust_keys: signatures of mirrors were removed",
		"mirror \"oci://r/m\" {\n mode = \"push\"\n}\n":    "mode: it must be one of",
		"mirror \"oci://r/m\" {\n sign_key = \"k\"\n}\n":   "sign_key: signatures of mirrors were removed",
		"s3_endpoints = [\"minio.example\"]\n":             "is not https://HOST",
		"s3_endpoints = [\"https://h/b\"]\n":               "is not https://HOST",
		"s3_endpoints = [\"https://u:p@h\"]\n":             "is not https://HOST",
		"s3_endpoints = [\"https://\"]\n":                  "is not https://HOST",
		"s3_endpoints = [\"https://h?\"]\n":                "is not https://HOST",
		"s3_endpoints = [\"ftp://h\"]\n":                   "is not https://HOST",
		"trust_keys = [var.x]\n":                           "Variables not allowed",
		"trust_keys = [":                                   "cotter.hcl:1",
		strings.Repeat("#\n", policy.MaxSize):              "more than",
		"mirror \"oci://r/m\" {\n signed_by = [null]\n}\n": "signed_by: signatures of mirrors were removed",
	} {
		got, diags := policy.ParseUserSettings([]byte(text), name)
		if got != nil || !strings.Contains(diags.Error(), want) {
			t.Errorf("ParseUser(%.60q) = %v, %s; want %q", text, got, diags, want)
		}
	}
}

func TestMirrorPattern(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern policy.MirrorPattern
		address string
		want    bool
	}{
		{"oci://r.example.com/*", "oci://r.example.com/m", true},
		{"oci://r.example.com/*", "oci://R.Example.com/a/b", true},
		{"oci://r.example.com/*", "oci://r.example.com.evil.example/m", false},
		{"oci://r.example.com/*", "oci://r.example.com:5000/m", false},
		{"oci://r.example.com/a/*", "oci://r.example.com/a/m", true},
		{"oci://r.example.com/a/*", "oci://r.example.com/ab/m", false},
		{"oci://r.example.com/a/*", "oci://r.example.com/a", false},
		{"oci://r.example.com/m", "oci://r.example.com/m", true},
		{"oci://r.example.com/m", "oci://r.example.com/m/n", false},
	} {
		if got := test.pattern.Matches(test.address); got != test.want {
			t.Errorf("%q matches %q: %t, want %t", test.pattern, test.address, got, test.want)
		}
	}
}

// What a mirror may confirm depends on who configured it.
func TestMirrors(t *testing.T) {
	t.Parallel()
	const m, n = "oci://r.example.com/m", "oci://r.example.com/n"
	block := func(address string, write bool) policy.Mirror { return policy.Mirror{Address: address, Write: write} }
	project := func(blocks ...policy.Mirror) policy.Settings { return policy.Settings{Mirrors: blocks} }
	for _, test := range []struct {
		name    string
		user    policy.UserSettings
		project policy.Settings
		named   string
		want    []policy.UsedMirror
	}{
		{name: "none"},
		{name: "named for the run", named: "oci://R.example.com/m", want: []policy.UsedMirror{{Address: m, Trusted: true}}},
		{
			name: "the run's takes the place of all others", named: n, user: policy.UserSettings{Mirrors: []policy.Mirror{block(m, true)}}, project: project(block(m, true)),
			want: []policy.UsedMirror{{Address: n, Trusted: true}},
		},
		{
			name: "the run's has its blocks", named: m,
			user:    policy.UserSettings{Mirrors: []policy.Mirror{block(m, true)}},
			project: project(block(m, false)),
			want:    []policy.UsedMirror{{Address: m, Trusted: true, Write: true}},
		},
		{
			name: "the user's, then the project's", user: policy.UserSettings{Mirrors: []policy.Mirror{block(m, false)}}, project: project(block(n, false), block(m, true)),
			want: []policy.UsedMirror{{Address: m, Trusted: true}, {Address: n}},
		},
		{
			name: "only the project's", project: project(block(m, true)),
			want: []policy.UsedMirror{{Address: m, WriteRefused: true}},
		},
		{
			name: "the project's, which the user trusts", user: policy.UserSettings{TrustMirrors: []policy.MirrorPattern{"oci://r.example.com/*"}}, project: project(block(m, true)),
			want: []policy.UsedMirror{{Address: m, Trusted: true, Write: true}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := policy.Mirrors(&test.user, &test.project, test.named)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Mirrors (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseUserSettings(f *testing.F) {
	f.Add([]byte("trust_mirrors = [\"oci://r/*\"]\ntrust_keys = [\"a\"]\nmirror \"oci://r/m\" {\n mode = \"write\"\n signed_by = [\"a\"]\n sign_key = \"b\"\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		u, diags := policy.ParseUserSettings(src, "cotter.hcl")
		if (u == nil) != diags.HasErrors() {
			t.Errorf("ParseUser = %v, %s", u, diags)
		}
	})
}
