package rules_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/policy"
)

// A refusal by one policy is enough, and every policy is checked.
func TestRules(t *testing.T) {
	t.Parallel()
	host := addrs.ParseModulePackage("git::https://git.example.com/a.git")
	pattern, err := policy.ParsePattern("git.example.com")
	if err != nil {
		t.Fatal(err)
	}
	first := &policy.Policy{Allow: []policy.Pattern{pattern}}
	second := &policy.Policy{Deny: []policy.Pattern{pattern}}
	for _, row := range []struct {
		rules  rules.Rules
		allows bool
	}{
		{nil, true},
		{rules.Rules{first}, true},
		{rules.Rules{first, second}, false},
		{rules.Rules{second, first}, false},
		{rules.Rules{{Allow: []policy.Pattern{}}}, false},
	} {
		if err := row.rules.Allow(host); (err == nil) != row.allows {
			t.Errorf("%d policies: Allow = %v, want allowed: %v", len(row.rules), err, row.allows)
		}
		if got := row.rules.Locations(); (got != "") != (len(row.rules) > 0) {
			t.Errorf("%d policies: Locations = %q", len(row.rules), got)
		}
	}
	if (rules.Rules{first, second}).Locations() == (rules.Rules{first}).Locations() {
		t.Error("rules that allow other places have the same text")
	}
}
