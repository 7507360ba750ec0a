package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Call is the part of a module call that a policy checks.
type Call struct {
	Source     addrs.ModuleSource
	Constraint versions.Constraints
	// Replaced says that Source replaces another source.
	Replaced bool
	// Own is set if the call is in one of the project's own modules, or is replaced there.
	Own bool
}

// CheckCall checks a call by its source and constraint. The error is a *[Violation], that of a malformed
// address, or says that the call has no source.
//
// It sees only text, so a ref that may be a tag passes DenyBranches. What origins say is checked by
// [Policy.CheckReference] (what a ref is), [Policy.CheckPackage] (where a registry has the package),
// [Policy.CheckCommit] and [Policy.CheckAge].
func (p *Policy) CheckCall(call Call) error {
	if p != nil && p.DenyReplacements && call.Replaced {
		return p.violation(argReplace, "the project replaces the source")
	}
	switch source := call.Source.(type) {
	case addrs.ModuleSourceRegistry:
		if err := p.CheckRegistry(source.Package); err != nil {
			return err
		}
		return p.checkConstraint(call, false)
	case addrs.ModuleSourceRemote:
		if err := p.checkRemote(source.Package, call.Constraint.IsZero()); err != nil {
			return err
		}
		return p.checkConstraint(call, pinned(source.Package))
	case addrs.ModuleSourceLocal:
		return nil
	}
	if p == nil {
		return nil
	}
	return errors.New("policy: the call has no source")
}

// CheckRegistry checks the address of a package in a registry.
func (p *Policy) CheckRegistry(pkg addrs.ModuleRegistryPackage) error {
	return p.orEmpty().checkLocation(registryLocation(pkg))
}

// CheckProvider checks the address of a provider.
func (p *Policy) CheckProvider(provider addrs.Provider) error {
	p = p.orEmpty()
	rules := locationRules{
		allow: p.AllowProviders, deny: p.DenyProviders,
		argAllow: argAllowProviders, argDeny: argDenyProviders, what: "providers",
	}
	return p.check(rules, providerLocation(provider))
}

// CheckPackage checks the address of a package. The error is a *[Violation], or that of a malformed
// address.
func (p *Policy) CheckPackage(pkg addrs.ModulePackage) error {
	if p == nil {
		return nil
	}
	at, err := pkg.Location()
	if err != nil {
		return err
	}
	return p.checkLocation(readLocations(at)...)
}

// CheckSignature decides whether a weak signature of a provider's package is accepted; weak describes it,
// and "" means that it is not weak. At least one policy must allow it, and no policy's file may deny it.
// The error is a *[Violation].
func CheckSignature(weak string, policies ...*Policy) error {
	if weak == "" {
		return nil
	}
	allowed := false
	for _, p := range policies {
		switch _, written := p.position(argWeakSignatures); {
		case p != nil && p.AllowWeakSignatures:
			allowed = true
		case written:
			return p.violation(argWeakSignatures, weak)
		}
	}
	if allowed {
		return nil
	}
	return (&Policy{}).violation(argWeakSignatures, weak)
}

// CheckProjectProvider checks a provider that the project itself brings. The error is a *[Violation].
func (p *Policy) CheckProjectProvider() error {
	if p == nil || !p.DenyProjectProviders {
		return nil
	}
	return p.violation(argProjectProviders, "the package is from this repository, unsigned")
}

func (p *Policy) checkLocation(readings ...location) error {
	return p.check(locationRules{allow: p.Allow, deny: p.Deny, argAllow: argAllow, argDeny: argDeny, what: "sources"}, readings...)
}

type locationRules struct {
	allow, deny       []Pattern
	argAllow, argDeny string
	what              string
}

// check requires that no reading is denied, and that the first is allowed.
func (p *Policy) check(rules locationRules, readings ...location) error {
	at := readings[0]
	for _, pattern := range rules.deny {
		if slices.ContainsFunc(readings, pattern.denies) {
			return p.violation(rules.argDeny, fmt.Sprintf("%s is denied by %q", at, pattern))
		}
	}
	if rules.allow == nil || slices.ContainsFunc(rules.allow, func(pattern Pattern) bool { return pattern.allows(at) }) {
		return nil
	}
	return p.violation(rules.argAllow, fmt.Sprintf("%s is not among the allowed %s", at, rules.what))
}

func (p *Policy) checkRemote(pkg addrs.ModulePackage, unconstrained bool) error {
	if err := p.CheckPackage(pkg); err != nil || p == nil {
		return err
	}
	if p.DenyCredentials && pkg.HoldsSecret() {
		return p.violation(argCredentials, "the source address contains credentials")
	}
	if unconstrained {
		return p.CheckRef(pkg)
	}
	return nil
}

// CheckRef refuses an address that certainly names a branch. It is for those without a version constraint.
func (p *Policy) CheckRef(pkg addrs.ModulePackage) error {
	if p == nil || !p.DenyBranches {
		return nil
	}
	ref, named := refOf(pkg)
	switch {
	case ref == "" && named != "":
		return p.violation(argBranches, fmt.Sprintf("without %q the address means a branch; name a tag or a commit", named))
	case named == "ref" && (strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "heads/")):
		return p.CheckReference("branch " + ref)
	}
	return nil
}

// CheckReference refuses what an origin resolved to a branch: "branch main", or "HEAD".
func (p *Policy) CheckReference(name string) error {
	if p == nil || !p.DenyBranches || name != "HEAD" && !strings.HasPrefix(name, "branch ") {
		return nil
	}
	return p.violation(argBranches, fmt.Sprintf("the address points to %s; name a tag or a commit", strings.Replace(name, "HEAD", "the default branch", 1)))
}

// CheckCommit checks a git commit that a source address names and no branch or tag was found to have in its
// history. unknown is why the history could not be searched to its end, or nil. The error is a
// *[Violation].
func (p *Policy) CheckCommit(commit string, unknown error) error {
	switch {
	case p == nil || !p.ReachableCommits:
		return nil
	case unknown != nil:
		return p.violation(argCommits, fmt.Sprintf("whether a branch or tag contains the commit %s is not known: %s", commit, unknown))
	}
	return p.violation(argCommits, fmt.Sprintf("no branch or tag contains the commit %s", commit))
}

func (p *Policy) checkConstraint(call Call, pinned bool) error {
	if p == nil || p.Versions == VersionsAny || !call.Own || pinned {
		return nil
	}
	if call.Constraint.IsZero() {
		return p.violation(argVersions, "the call has no version constraint")
	}
	if _, exact := call.Constraint.Exact(); p.Versions == VersionsExact && !exact {
		return p.violation(argVersions, fmt.Sprintf("the constraint %q allows more than one version", call.Constraint))
	}
	return nil
}

// CheckAge checks the age of a version. The zero time, of an origin without dates, is allowed.
func (p *Policy) CheckAge(version versions.Version, published, now time.Time) error {
	if p == nil || published.IsZero() || now.Sub(published) >= p.MinAge {
		return nil
	}
	const day = "2006-01-02"
	return p.violation(argMinAge, fmt.Sprintf("version %s was published on %s and may be used from %s on",
		version, published.UTC().Format(day), published.Add(p.MinAge).UTC().Format(day)))
}

// pinned reports whether an address names one version, or is of a kind without versions.
func pinned(pkg addrs.ModulePackage) bool {
	name, _ := pkg.Ref()
	return name != "" || !pkg.HasRevisions()
}

// refOf returns the ref of a package and the name of its argument; "" for kinds without branches.
func refOf(pkg addrs.ModulePackage) (ref, named string) {
	switch pkg.Getter() {
	case "git":
		return pkg.Arg("ref"), "ref"
	case "hg":
		return pkg.Arg("rev"), "rev"
	}
	return "", ""
}
