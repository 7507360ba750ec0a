package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Policy is a set of rules. The zero value and nil allow everything. It must not change once it is in use. In a file,
// the rules are these arguments of the "policy" block, in the order of the fields: allow_sources, deny_sources,
// allow_providers, deny_providers, weak_provider_signatures (allow or deny), project_providers (allow or deny), versions
// (any, range or exact), branches (allow or deny), commits (any or reachable), replace (allow or deny), credentials
// (allow or deny) and min_age_days. Outside of the block, policy_only sets Only.
type Policy struct {
	// Allow has the locations that modules may come from: nil allows all, an empty list none. Deny has
	// those that they must not come from, even if Allow has them.
	Allow, Deny []Pattern
	// AllowProviders and DenyProviders are the lists for provider addresses, HOST/NAMESPACE/TYPE.
	AllowProviders, DenyProviders []Pattern
	// AllowWeakSignatures accepts signatures of providers that are no longer secure: with RSA keys of less
	// than 2,048 bits, DSA keys or SHA-1. [CheckSignature] combines several policies.
	AllowWeakSignatures bool
	// DenyProjectProviders refuses providers that the project itself brings, such as in
	// terraform.d/plugins.
	DenyProjectProviders bool
	// Versions says how the project's own calls must be pinned.
	Versions Versions
	// DenyBranches refuses git sources that name a branch or no ref.
	DenyBranches bool
	// ReachableCommits refuses git sources that name a commit which no branch or tag has in its history.
	ReachableCommits bool
	// DenyReplacements refuses sources that replace others; see [Replacements].
	DenyReplacements bool
	// DenyCredentials refuses source addresses that contain credentials.
	DenyCredentials bool
	// MinAge is the minimum age of a version that may be selected; 0 allows any age.
	MinAge time.Duration

	// Only means that this policy replaces that of the project. A project's file cannot say so.
	Only bool

	// at has the position of each argument in the file.
	at       map[string]hcl.Range
	declared bool
}

func (p *Policy) orEmpty() *Policy { return cmp.Or(p, &Policy{}) }

// Declared reports whether the policy was read from a file with a policy block.
func (p *Policy) Declared() bool { return p.orEmpty().declared }

// Versions says how calls must be pinned.
type Versions int

// The ways to pin a call.
const (
	VersionsAny   Versions = iota // not at all
	VersionsRange                 // by a constraint, tag, commit or digest
	VersionsExact                 // like VersionsRange, and a constraint must name one version
)

// WeakSignatures is the value of [Violation.Argument] for a weak signature.
const WeakSignatures = "weak_provider_signatures"

// The names of a policy's arguments, in files and in messages.
const (
	argAllow       = "allow_sources"
	argDeny        = "deny_sources"
	argBranches    = "branches"
	argCommits     = "commits"
	argVersions    = "versions"
	argCredentials = "credentials"
	argMinAge      = "min_age_days"
	argOnly        = "policy_only"
	argReplace     = "replace"

	argAllowProviders   = "allow_providers"
	argDenyProviders    = "deny_providers"
	argWeakSignatures   = WeakSignatures
	argProjectProviders = "project_providers"
)

// MaxAgeDays is the maximum value of min_age_days: about a hundred years.
const MaxAgeDays = 36_500

// Parse parses the policy in a file; docs/policy.md describes it. The name is used only in messages.
// Without a policy block, the policy allows everything and is not [Policy.Declared]. Other blocks are not
// checked. The policy is nil if there are errors.
func Parse(src []byte, filename string) (*Policy, hcl.Diagnostics) {
	all, rest, diags := policyPart.read(src, filename, hcl.BlockHeaderSchema{Type: "policy"}, hcl.BlockHeaderSchema{Type: "settings"}, mirrorHeader, replaceHeader)
	if diags.HasErrors() {
		return nil, diags
	}
	blocks := all.OfType("policy")
	p := &Policy{declared: len(blocks) > 0}
	if p.at, diags = policyPart.readBlock(blocks, p.arguments()); diags.HasErrors() {
		return nil, diags
	}
	only, diags := policyPart.readArguments(rest, arguments{argOnly: boolean(&p.Only)})
	if diags.HasErrors() {
		return nil, diags
	}
	maps.Copy(p.at, only)
	return p, nil
}

// ParseProject is Parse for a project's own file, which cannot replace the policy of the project.
func ParseProject(src []byte, filename string) (*Policy, hcl.Diagnostics) {
	p, diags := Parse(src, filename)
	if at, written := p.position(argOnly); written {
		return nil, policyPart.failure(at, "A project's own policy cannot have %s: only a file that the user names can replace it.", argOnly)
	}
	return p, diags
}

func (p *Policy) arguments() arguments {
	return arguments{
		argAllow:       patterns(&p.Allow),
		argDeny:        patterns(&p.Deny),
		argBranches:    choice(&p.DenyBranches, map[string]bool{"allow": false, "deny": true}),
		argCommits:     choice(&p.ReachableCommits, map[string]bool{"any": false, "reachable": true}),
		argCredentials: choice(&p.DenyCredentials, map[string]bool{"allow": false, "deny": true}),
		argVersions:    choice(&p.Versions, versionsWords),
		argMinAge:      days(&p.MinAge),
		argReplace:     choice(&p.DenyReplacements, map[string]bool{"allow": false, "deny": true}),

		argAllowProviders:   patterns(&p.AllowProviders),
		argDenyProviders:    patterns(&p.DenyProviders),
		argWeakSignatures:   choice(&p.AllowWeakSignatures, map[string]bool{"allow": true, "deny": false}),
		argProjectProviders: choice(&p.DenyProjectProviders, map[string]bool{"allow": false, "deny": true}),
	}
}

func patterns(to *[]Pattern) func(cty.Value) error {
	return list(to, 1, "at least one pattern", parsed("pattern", ParsePattern))
}

func days(to *time.Duration) func(cty.Value) error {
	return func(value cty.Value) error {
		if value.IsNull() || value.Type() != cty.Number {
			return errors.New("it must be a number of days")
		}
		n, _ := value.AsBigFloat().Float64()
		if n < 0 || n > MaxAgeDays || n != math.Trunc(n) {
			return fmt.Errorf("it must be a whole number of days, from 0 to %d", MaxAgeDays)
		}
		*to = time.Duration(n) * 24 * time.Hour
		return nil
	}
}

// OfRepository returns what applies of a policy in a repository: the rules that restrict. Its author must
// not decide for users that weak signatures are accepted.
func (p *Policy) OfRepository() *Policy {
	if p == nil || !p.AllowWeakSignatures {
		return p
	}
	restricting := *p
	restricting.AllowWeakSignatures = false
	restricting.at = maps.Clone(p.at)
	delete(restricting.at, argWeakSignatures)
	return &restricting
}

func (p *Policy) position(argument string) (_ hcl.Range, written bool) {
	at, written := p.orEmpty().at[argument]
	return at, written
}

func (p *Policy) violation(argument, reason string) error {
	return &Violation{Argument: argument, Range: p.at[argument], Reason: reason}
}

// Violation is returned if a policy does not allow a call or an address.
type Violation struct {
	// Argument is the violated argument, such as "deny_sources".
	Argument string
	// Range is the position of the argument; empty if there is no file.
	Range hcl.Range
	// Reason describes the violation, without credentials.
	Reason string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the policy does not allow it: %s (%s)", v.Reason, v.Rule())
}

// Rule returns the violated argument with its position, such as "cotter.hcl:2, allow_sources".
func (v *Violation) Rule() string {
	if v.Range.Filename == "" {
		return "the argument " + v.Argument
	}
	return fmt.Sprintf("%s:%d, %s", v.Range.Filename, v.Range.Start.Line, v.Argument)
}
