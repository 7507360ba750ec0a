package policy

import (
	"maps"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Policy is a set of rules. The zero value and a nil *Policy allow everything. Its fields
// must not change once it is in use.
type Policy struct {
	// Allow has the places that modules may come from; an empty list allows all places.
	// Deny has the places that modules must not come from, even if Allow has them.
	Allow, Deny []Pattern
	// AllowProviders and DenyProviders are the corresponding lists for provider addresses,
	// HOST/NAMESPACE/TYPE.
	AllowProviders, DenyProviders []Pattern
	// AllowWeakSignatures accepts signatures of providers with keys and digests that are no
	// longer secure: RSA keys of less than 2,048 bits, DSA keys and SHA-1. [CheckSignature]
	// describes how several policies are combined.
	AllowWeakSignatures bool
	// DenyProjectProviders refuses packages of providers that the project itself brings, for
	// example in terraform.d/plugins.
	DenyProjectProviders bool
	// Versions says how the project's own calls must be pinned.
	Versions Versions
	// DenyBranches refuses git sources that name a branch or no ref.
	DenyBranches bool
	// ReachableCommits refuses git sources that name a commit, unless a branch or a tag of the
	// repository has the commit in its history.
	ReachableCommits bool
	// DenyCredentials refuses source addresses that contain credentials.
	DenyCredentials bool
	// MinAge is the minimum age of a version that may be selected; 0 allows any age.
	MinAge time.Duration

	// at has the position of each argument in the file, for messages.
	at map[string]hcl.Range
	// declared says that the file has a policy block.
	declared bool
}

// Declared reports whether the policy was read from a file with a policy block.
func (p *Policy) Declared() bool { return p != nil && p.declared }

// Versions says how calls must be pinned.
type Versions int

// The ways to pin a call.
const (
	VersionsAny   Versions = iota // not at all
	VersionsRange                 // by a constraint, tag, commit or digest
	VersionsExact                 // like VersionsRange, and a constraint must name one version
)

// WeakSignatures is the value of Violation.Argument for a weak signature.
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

	argAllowProviders   = "allow_providers"
	argDenyProviders    = "deny_providers"
	argWeakSignatures   = WeakSignatures
	argProjectProviders = "project_providers"
)

// OfRepository returns the part of a policy in a repository that applies: only the rules
// that restrict. The author of a configuration must not decide for its users that weak
// signatures are accepted.
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

// position returns the position of an argument in the policy's file.
func (p *Policy) position(argument string) (_ hcl.Range, written bool) {
	if p == nil {
		return hcl.Range{}, false
	}
	at, written := p.at[argument]
	return at, written
}

func (p *Policy) violation(argument, reason string) error {
	return &Violation{Argument: argument, Range: p.at[argument], Reason: reason}
}
