package policy_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// refusedBy returns the argument of a policy that caused an error, or "" if err is nil.
func refusedBy(t *testing.T, err error) string {
	t.Helper()
	var violation *policy.Violation
	if err != nil && !errors.As(err, &violation) {
		t.Fatalf("error %v is no *Violation", err)
	}
	if violation == nil {
		return ""
	}
	return violation.Argument
}

// checkSources checks whether an argument of a policy refuses source addresses.
func checkSources(t *testing.T, p *policy.Policy, argument string, addresses map[string]bool) {
	t.Helper()
	for address, refused := range addresses {
		if err := p.CheckCall(policy.Call{Source: source(t, address)}); (refusedBy(t, err) == argument) != refused {
			t.Errorf("CheckCall(%q) = %v, want refused %t", address, err, refused)
		}
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	p := &policy.Policy{DenyBranches: true}
	checkSources(t, p, "branches", map[string]bool{
		"git::https://example.com/net.git":                      true,
		"git::https://example.com/net.git?depth=1":              true,
		"git::https://example.com/net.git?ref=":                 true,
		"git::https://example.com/net.git?ref=refs/heads/v1":    true,
		"git::https://example.com/net.git?ref=refs%2Fheads%2Fv": true,
		"git::https://example.com/net.git?ref=heads/v1":         true,
		"hg::https://example.com/net":                           true,
		"git::https://example.com/net.git?ref=v1":               false,
		"git::https://example.com/net.git?ref=refs/tags/v1":     false,
		"hg::https://example.com/net?rev=1":                     false,
		"oci://example.com/net":                                 false,
		"https://example.com/net.zip":                           false,
	})
	want, err := versions.ParseConstraints("~> 1.0")
	testenv.Must(t, err)
	if err := p.CheckCall(policy.Call{Source: source(t, "git::https://example.com/net.git"), Constraint: want}); err != nil {
		t.Errorf("a range of tags: %v", err)
	}
	for name, refused := range map[string]bool{"branch main": true, "HEAD": true, "tag HEAD": false, "commit 1234": false, "": false} {
		if err := p.CheckReference(name); (err != nil) != refused {
			t.Errorf("CheckReference(%q) = %v, want refused %t", name, err, refused)
		}
		if err := (&policy.Policy{}).CheckReference(name); err != nil {
			t.Errorf("CheckReference(%q) = %v where branches are allowed", name, err)
		}
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	const commit = "1ba9f699385c1ba9f699385c1ba9f699385c1ba9"
	if err := (&policy.Policy{}).CheckCommit(commit, nil); err != nil {
		t.Errorf("without the rule: %v", err)
	}
	p := &policy.Policy{ReachableCommits: true}
	for _, unknown := range []error{nil, errors.New("the history is too long")} {
		err := p.CheckCommit(commit, unknown)
		if refusedBy(t, err) != "commits" || !strings.Contains(err.Error(), commit) || unknown != nil && !strings.Contains(err.Error(), unknown.Error()) {
			t.Errorf("CheckCommit(%v) = %v", unknown, err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, constraint string
		inRange, inExact   bool // whether it is allowed
	}{
		{source: "acme/net/aws"},
		{source: "acme/net/aws", constraint: "~> 1.0", inRange: true},
		{source: "acme/net/aws", constraint: "1.2.3", inRange: true, inExact: true},
		{source: "acme/net/aws", constraint: "= 1.2.3", inRange: true, inExact: true},
		{source: "acme/net/aws", constraint: "1.2.3, != 1.0.0", inRange: true},
		{source: "git::https://example.com/net.git"},
		{source: "git::https://example.com/net.git", constraint: "> 1", inRange: true},
		{source: "git::https://example.com/net.git?ref=v1", inRange: true, inExact: true},
		{source: "oci://example.com/net"},
		{source: "oci://example.com/net?tag=1.0.0", inRange: true, inExact: true},
		{source: "https://example.com/net.zip", inRange: true, inExact: true},
		{source: "./app", inRange: true, inExact: true},
	} {
		call := policy.Call{Source: source(t, tt.source), Own: true}
		if tt.constraint != "" {
			var err error
			if call.Constraint, err = versions.ParseConstraints(tt.constraint); err != nil {
				t.Fatal(err)
			}
		}
		for rule, allowed := range map[policy.Versions]bool{policy.VersionsAny: true, policy.VersionsRange: tt.inRange, policy.VersionsExact: tt.inExact} {
			p := &policy.Policy{Versions: rule}
			if err := p.CheckCall(call); (refusedBy(t, err) == "") != allowed {
				t.Errorf("rule %d, %s %q: %v, want allowed %t", rule, tt.source, tt.constraint, err, allowed)
			}
			foreign := call
			foreign.Own = false
			if err := p.CheckCall(foreign); err != nil {
				t.Errorf("rule %d, %s in another's module: %v", rule, tt.source, err)
			}
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := &policy.Policy{MinAge: 14 * 24 * time.Hour}
	for _, tt := range []struct {
		published time.Time
		young     bool
	}{
		{now.Add(-13 * 24 * time.Hour), true},
		{now.Add(-14 * 24 * time.Hour), false},
		{now.Add(24 * time.Hour), true}, // a clock is wrong
		{time.Time{}, false},
	} {
		if err := p.CheckAge(versions.MustParse("1.2.0"), tt.published, now); (refusedBy(t, err) == "min_age_days") != tt.young {
			t.Errorf("CheckAge of %s = %v, want young %t", tt.published, err, tt.young)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	checkSources(t, &policy.Policy{DenyCredentials: true}, "credentials", map[string]bool{
		"git::https://user:secret@example.com/net.git": true,
		"git::https://example.com/net.git":             false,
		"acme/net/aws":                                 false,
	})
}

func TestNilPolicy(t *testing.T) {
	t.Parallel()
	var p *policy.Policy
	for _, err := range []error{
		p.CheckCall(policy.Call{Source: source(t, "git::https://user:secret@example.com/net.git"), Own: true}),
		p.CheckCall(policy.Call{Source: source(t, "acme/net/aws"), Own: true}),
		p.CheckPackage(addrs.ParseModulePackage("https://example.com/a.zip")),
		p.CheckReference("HEAD"),
		p.CheckCommit("1ba9f699385c", nil),
		p.CheckAge(versions.MustParse("1.0.0"), time.Now(), time.Now()),
		p.CheckCall(policy.Call{}), p.CheckProvider(addrs.Provider{}), p.CheckProjectProvider(),
		p.CheckURL(&url.URL{}), p.CheckProviderURL(&url.URL{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if denied := p.DeniedURLs() + p.DeniedProviderURLs(); denied != "" {
		t.Errorf("a nil policy denies %s", denied)
	}
}
