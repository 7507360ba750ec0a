package stores

import (
	"slices"
	"strings"

	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/ocistore"
)

// distrust returns the reason why an artifact in a store with this trust does not confirm the entry
// that it contains, or nil if it does. The text is the same for all artifacts with the same defect.
func distrust(t ocistore.Trust, manifest []byte) error {
	if !t.Named && len(t.SignedBy) == 0 {
		return ocistore.ErrDeliversOnly
	}
	for _, keys := range t.SignedBy {
		if err := artifact.CheckSigned(manifest, keys); err != nil {
			return err
		}
	}
	return nil
}

// EvidenceOf returns the evidence that an artifact in a store is if it confirms its entry. If keys
// decide, it names the keys and not the store. It is zero for a store that only delivers.
func EvidenceOf(store ocistore.Store) evidence.Evidence {
	info := store.Info()
	switch {
	case len(info.Trust.SignedBy) > 0:
		return evidence.Evidence{Kind: evidence.SignedMirror, By: keysOf(info.Trust)}
	case info.Trust.Named:
		return evidence.Evidence{Kind: evidence.Mirror, By: info.Name}
	}
	return evidence.Evidence{}
}

// keysOf returns the IDs of the keys, with "or" between those of a list and "and" between lists.
func keysOf(t ocistore.Trust) string {
	all := make([]string, len(t.SignedBy))
	for i, list := range t.SignedBy {
		ids := make([]string, len(list))
		for j, key := range list {
			ids[j] = artifact.KeyID(key)
		}
		slices.Sort(ids)
		all[i] = strings.Join(ids, " or ")
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}
