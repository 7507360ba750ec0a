package treeproviders

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// Lock is the lock as the stock tool of the dialect understands it. OpenTofu takes over versions that
// Terraform has locked: without an entry for registry.opentofu.org/hashicorp/NAME, the version of
// registry.terraform.io/hashicorp/NAME counts, without its hashes, because the two registries have
// different packages. Other namespaces, and Terraform with a lock of OpenTofu, get none.
type Lock struct {
	*lockfile.File
	Tofu bool
	// Merged has the entries that both sides of a merge have changed, the newer one first.
	Merged map[addrs.Provider][]lockfile.Provider
	// Unmanaged are providers that no run installs: stock tools use processes that the user has started. Their
	// entries stay as they are.
	Unmanaged []addrs.Provider
}

// Managed returns the entries of the other providers.
func (l Lock) Managed() []lockfile.Provider {
	return slices.DeleteFunc(l.Providers(), func(entry lockfile.Provider) bool {
		return slices.Contains(l.Unmanaged, entry.Address) || slices.Contains(l.Unmanaged, l.inState(entry.Address))
	})
}

// entry returns the entry that decides the locked version: of two of a merge, the newer one that meets the
// constraints.
func (l Lock) entry(p Required) (Entry, bool) {
	for _, entry := range l.Merged[p.Address] {
		if p.Fits(entry.Version) {
			return Entry{Provider: entry}, true
		}
	}
	return l.Provider(p.Address)
}

// hashicorp is the namespace for which OpenTofu takes over versions.
const hashicorp = "hashicorp"

type Entry struct {
	// Provider has no hashes if the entry is taken over.
	lockfile.Provider
	// From is the address in Terraform's registry whose entry is taken over, if it is.
	From addrs.Provider
}

// IsTakenOver reports whether the version is under Terraform's address, so that using it changes the lock.
func (e Entry) IsTakenOver() bool { return e.From != (addrs.Provider{}) }

// Provider hides the method of [lockfile.File], which returns only the provider's own entry.
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

// inState returns the address under which a state would need a provider. OpenTofu looks for a provider of
// Terraform's registry, from any namespace, in its own registry.
func (l Lock) inState(address addrs.Provider) addrs.Provider {
	if l.Tofu && address.Hostname == addrs.TerraformRegistryHost {
		address.Hostname = addrs.DefaultRegistryHost
	}
	return address
}
