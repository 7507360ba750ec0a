package policy_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/policy"
)

// A call without a source was not checked, so it is not allowed.
func TestCallWithoutSource(t *testing.T) {
	t.Parallel()
	if err := (&policy.Policy{}).CheckCall(policy.Call{}); err == nil {
		t.Error("a call without a source is allowed")
	}
	if used := policy.Mirrors(nil, nil, ""); used != nil {
		t.Errorf("without settings, the mirrors are %v", used)
	}
}

// A pattern that was not set permits nothing: a zero Pattern allows nothing and denies everything, and
// an empty list allows nothing. nil is the list that was not set.
func TestZeroPatterns(t *testing.T) {
	t.Parallel()
	none, zero := []policy.Pattern{}, make([]policy.Pattern, 1)
	for name, test := range map[string]struct {
		policy             policy.Policy
		sources, providers string // the violated arguments
	}{
		"nil":                 {policy.Policy{}, "", ""},
		"no denials":          {policy.Policy{Deny: none, DenyProviders: none}, "", ""},
		"no sources":          {policy.Policy{Allow: none}, "allow_sources", ""},
		"no providers":        {policy.Policy{AllowProviders: none}, "", "allow_providers"},
		"zero pattern":        {policy.Policy{Allow: zero, AllowProviders: zero}, "allow_sources", "allow_providers"},
		"zero pattern denied": {policy.Policy{Deny: zero, DenyProviders: zero}, "deny_sources", "deny_providers"},
	} {
		for _, written := range []string{"https://example.com/a.zip", "acme/net/aws", "git::ssh://git@example.com/net.git", "file:///srv/a.zip"} {
			if got := refusedBy(t, test.policy.CheckCall(policy.Call{Source: source(t, written)})); got != test.sources {
				t.Errorf("%s: the source %s violates %q, want %q", name, written, got, test.sources)
			}
		}
		if got := refusedBy(t, test.policy.CheckProvider(addrs.Provider{Hostname: "registry.opentofu.org", Namespace: "acme", Type: "net"})); got != test.providers {
			t.Errorf("%s: the provider violates %q, want %q", name, got, test.providers)
		}
	}
}
