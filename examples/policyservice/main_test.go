package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/policy"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	rules, diags := policy.Parse([]byte(`policy {
  allow_sources  = ["registry.example.com/acme", "git.example.com"]
  deny_providers = ["*/acme/unwanted"]
  branches       = "deny"
}
`), "cotter.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	handler := check(rules)
	const h1 = `hashes = ["h1:pJD3aUk3bGbSs6MiKa2SE8/BRpB8ivYT3qnv2XDZ2GU="]`
	tests := []struct {
		name, lock string
		status     int
		want       []string
	}{
		{"an empty lock", "", http.StatusOK, nil},
		{"an allowed module", `module "net" {
  version = "1.2.0"
  source  = "registry.example.com/acme/net/aws"
  package = "git::https://git.example.com/net.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
  ` + h1 + `
}`, http.StatusOK, nil},
		{"a registry that points elsewhere, and a denied provider", `module "net" {
  version = "1.2.0"
  source  = "registry.example.com/acme/net/aws"
  package = "git::https://git.elsewhere.example/net.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
  ` + h1 + `
}
provider "registry.example.com/acme/unwanted" {
  version = "1.0.0"
  ` + h1 + `
}`, http.StatusOK, []string{"module net: ", "provider registry.example.com/acme/unwanted: "}},
		{"a module from elsewhere", `module "net" {
  source = "git::https://git.elsewhere.example/net.git"
  ` + h1 + `
}`, http.StatusOK, []string{"module net: "}},
		{"a range of versions of a git repository", `module "net" {
  version     = "1.2.0"
  source      = "git::https://git.example.com/net.git"
  constraints = "~> 1.0"
  ` + h1 + `
}`, http.StatusOK, nil},
		{"a branch", `module "net" {
  source = "git::https://git.example.com/net.git"
  ` + h1 + `
}`, http.StatusOK, []string{"module net: "}},
		{"a provider block with an error", `provider "acme" {}`, http.StatusBadRequest, []string{"the lock cannot be checked"}},
		{"a module block of a later draft", `module "registry.elsewhere.example/acme/net/aws" {
  version = "1.2.0"
}`, http.StatusBadRequest, []string{"the lock cannot be checked"}},
		{"conflict markers", "<<<<<<< ours\n", http.StatusBadRequest, []string{"the lock cannot be checked"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := httptest.NewRecorder()
			handler(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(tt.lock)))
			if answer.Code != tt.status {
				t.Errorf("status %d, want %d", answer.Code, tt.status)
			}
			lines := strings.Split(strings.TrimSpace(answer.Body.String()), "\n")
			if len(tt.want) == 0 {
				lines = strings.Fields(answer.Body.String())
			}
			if len(lines) != len(tt.want) {
				t.Fatalf("the answer is %q, want %q", lines, tt.want)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, tt.want[i]) {
					t.Errorf("line %d is %q, want %q", i+1, line, tt.want[i])
				}
			}
		})
	}
}
