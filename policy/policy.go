package policy

import (
	"maps"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Policy is a set of rules. The zero value allows everything, and so does a nil
// one. Its fields must not change once it is in use.
type Policy struct {
	// Allow are the places that modules may come from; none means all places. Deny
	// are places that they must not come from, even if allowed.
	Allow, Deny []Pattern
	// AllowProviders and DenyProviders are the same for the addresses of providers,
	// HOST/NAMESPACE/TYPE.
	AllowProviders, DenyProviders []Pattern
	// AllowWeakSignatures accepts signatures of providers by keys and digests that are
	// no longer secure: RSA keys of less than 2,048 bits, DSA, SHA-1. See
	// [CheckSignature] for how several policies combine.
	AllowWeakSignatures bool
	// Versions is how the project's own calls must be pinned.
	Versions Versions
	// DenyBranches refuses git sources that name a branch or no ref.
	DenyBranches bool
	// DenyCredentials refuses source addresses that contain credentials.
	DenyCredentials bool
	// MinAge is the minimum age of a version to be selected; 0 means any age.
	MinAge time.Duration

	// at is the position of each argument in the file, for messages.
	at map[string]hcl.Range
	// declared says that the file has a policy block.
	declared bool
}

// Declared reports whether the policy was read from a file with a policy block.
func (p *Policy) Declared() bool { return p != nil && p.declared }

// Versions is how calls must be pinned.
type Versions int

// The ways to pin a call.
const (
	VersionsAny   Versions = iota // not at all
	VersionsRange                 // by a constraint, tag, commit or digest
	VersionsExact                 // the same, and a constraint names one version
)

// WeakSignatures is the argument that Violation has for a weak signature.
const WeakSignatures = "weak_provider_signatures"

// The arguments of a policy, in files and in messages.
const (
	argAllow       = "allow_sources"
	argDeny        = "deny_sources"
	argBranches    = "branches"
	argVersions    = "versions"
	argCredentials = "credentials"
	argMinAge      = "min_age_days"

	argAllowProviders = "allow_providers"
	argDenyProviders  = "deny_providers"
	argWeakSignatures = WeakSignatures
)

// OfRepository returns what counts of a policy that comes with the configuration: only
// what restricts. Who writes a configuration must not decide for its users that weak
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

// position returns where an argument is in the policy's file.
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
