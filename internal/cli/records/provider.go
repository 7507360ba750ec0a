package records

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/lists"
)

// Provider is a provider in the output of install and tree.
type Provider struct {
	Provider    string            `json:"provider"`
	Version     string            `json:"version"`
	Constraints string            `json:"constraints,omitempty"`
	Hashes      []hashing.Hash    `json:"hashes,omitempty"`
	Dir         string            `json:"dir,omitempty"`
	KeyID       string            `json:"key_id,omitempty"`
	Evidence    evidence.Evidence `json:"evidence,omitzero"` // Who confirms the package, if that is known.
	RequiredBy  []ProviderUse     `json:"required_by,omitempty"`
	LockedAs    addrs.Provider    `json:"locked_as,omitzero"` // The address in Terraform's registry under which the lock has the version, if it is not the provider's own.

	Address   addrs.Provider `json:"-"`
	Confirmed string         `json:"-"` // Evidence as shown in text
}

// ProviderUse is a requirement of a provider.
type ProviderUse struct {
	Key        string `json:"key,omitempty"` // The key of the module; absent for the root module.
	By         string `json:"by"`
	Constraint string `json:"constraint,omitempty"`
	Place
}

// Providers returns the records of providers.
func Providers(providers []installer.Provider) []Provider {
	return lists.Map(providers, func(p installer.Provider) Provider {
		return Provider{
			Provider: p.Address.String(), Version: p.Version.String(), Constraints: p.Constraints.String(), Hashes: p.Hashes,
			Dir: p.Dir, KeyID: p.KeyID, Evidence: p.Evidence, LockedAs: p.LockedAs, Address: p.Address,
			RequiredBy: lists.Map(p.RequiredBy, func(use installer.ProviderRequirement) ProviderUse {
				return ProviderUse{Key: use.Path.String(), By: use.By, Constraint: use.Constraint, Place: PlaceOf(use.Range)}
			}),
		}
	})
}

// ProviderReport is a provider in the output of verify.
type ProviderReport struct {
	Provider    string            `json:"provider"`
	Version     string            `json:"version"`
	Status      string            `json:"status"`
	Former      string            `json:"former,omitempty"`      // The version that is installed if the status is "former", from before.
	Evidence    evidence.Evidence `json:"evidence,omitzero"`     // As in Provider, for an installed provider that matches the lock.
	Unconfirmed bool              `json:"unconfirmed,omitempty"` // True if nothing is known on this machine to confirm the lock entry.
	Got         string            `json:"got,omitempty"`
	Error       string            `json:"error,omitempty"`
}

// ProviderReports returns the records of providers in a report.
func ProviderReports(reports []installer.ProviderReport) []ProviderReport {
	return lists.Map(reports, func(p installer.ProviderReport) ProviderReport {
		return ProviderReport{Provider: p.Provider.String(), Version: p.Version.String(), Status: p.Status.String(), Former: p.Former.String(), Evidence: p.Evidence, Unconfirmed: p.Unconfirmed, Got: string(p.Got), Error: ErrorText(p.Err)}
	})
}

// ProviderChange is a provider whose lock entry has changed.
type ProviderChange struct {
	Provider string `json:"provider"`
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
	Hashes   int    `json:"hashes_added,omitempty"`
	// Normalized is true if the hashes were not as stock tools write them: sorted, and each once.
	Normalized bool `json:"hashes_normalized,omitempty"`
	// From is the address in Terraform's registry under which the lock had the old version.
	From addrs.Provider `json:"from,omitzero"`
	// ExcludedBy is the list of constraints that do not allow the old version.
	ExcludedBy []Exclusion `json:"excluded_by,omitempty"`
}

func providerChanges(changes []installer.ProviderChange) []ProviderChange {
	return lists.Map(changes, func(c installer.ProviderChange) ProviderChange {
		return ProviderChange{Provider: c.Provider.String(), Old: c.Old.String(), New: c.New.String(), Hashes: c.Hashes, Normalized: c.Normalized, From: c.From, ExcludedBy: ProviderExclusions(c)}
	})
}
