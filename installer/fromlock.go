package installer

import (
	"slices"

	"github.com/cotterpin/cotter/internal/provider/treeproviders"
)

// withLocked adds the other providers in the lock, which packages that are not installed may require.
func withLocked(required []treeproviders.Required, lock *providerLock) []treeproviders.Required {
	for _, entry := range lock.Managed() {
		if slices.ContainsFunc(required, func(r treeproviders.Required) bool { return r.Address == entry.Address }) {
			continue
		}
		required = append(required, treeproviders.Required{Address: entry.Address, Want: entry.Constraints})
	}
	return treeproviders.Sorted(required)
}
