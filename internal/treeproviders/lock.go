package treeproviders

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// Lock is the lock that has the providers, as the stock tool of the dialect understands it.
//
// OpenTofu takes over versions that Terraform has locked. If the lock has no entry for
// registry.opentofu.org/hashicorp/NAME, then the version of registry.terraform.io/hashicorp/NAME
// is the locked one. The hashes are not taken over, because the two registries have different
// packages. Providers of other namespaces, and Terraform with a lock of OpenTofu, get no version
// in this way.
type Lock struct {
	*lockfile.File
	// Tofu reports whether the dialect is that of OpenTofu.
	Tofu bool
	// Merged has the entries of providers that both sides of a merge have changed, the newer one first.
	Merged map[addrs.Provider][]lockfile.Provider
}

// entry returns the entry that decides which version of a required provider is locked. If a merge had
// two, it is the newer one that meets the constraints.
func (l Lock) entry(p Required) (Entry, bool) {
	for _, entry := range l.Merged[p.Address] {
		if p.Fits(entry.Version) {
			return Entry{Provider: entry}, true
		}
	}
	return l.Provider(p.Address)
}

// hashicorp is the only namespace for which OpenTofu takes over versions that Terraform has
// locked.
const hashicorp = "hashicorp"

// Entry is what a lock has about a provider.
type Entry struct {
	// Provider has the provider's address. It has no hashes if the entry is taken over.
	lockfile.Provider
	// From is the address in Terraform's registry whose entry is taken over. It is zero if the lock
	// has an entry for the provider itself.
	From addrs.Provider
}

// IsTakenOver reports whether the lock has the version under an address in Terraform's registry.
// Using the version then requires a change of the lock.
func (e Entry) IsTakenOver() bool { return e.From != (addrs.Provider{}) }

// Provider returns the entry that decides which version of a provider is locked. It hides the
// method of [lockfile.File], which returns only the provider's own entry.
func (l Lock) Provider(address addrs.Provider) (Entry, bool) {
	if own, has := l.File.Provider(address); has {
		return Entry{Provider: own}, true
	}
	if !l.Tofu || address.Hostname != addrs.DefaultRegistryHost || address.Namespace != hashicorp {
		return Entry{}, false
	}
	from := address
	from.Hostname = addrs.TerraformRegistryHost
	entry, has := l.File.Provider(from)
	if !has {
		return Entry{}, false
	}
	entry.Address, entry.Hashes = address, nil
	return Entry{Provider: entry, From: from}, true
}

// inState returns the address under which a state would need a provider that no module requires.
// OpenTofu looks for a provider of Terraform's registry, from any namespace, in its own registry.
func (l Lock) inState(address addrs.Provider) addrs.Provider {
	if l.Tofu && address.Hostname == addrs.TerraformRegistryHost {
		address.Hostname = addrs.DefaultRegistryHost
	}
	return address
}
