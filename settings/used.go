package settings

import "slices"

// UsedMirror is a mirror that a run reads from, with the degree to which it is trusted.
type UsedMirror struct {
	// Address is oci://HOST/REPOSITORY.
	Address string
	// Trusted says that the user trusts the mirror, so that it confirms entries as an
	// origin does, provided that they have the signatures that SignedBy requires. Other
	// mirrors confirm entries only if SignedBy is not empty.
	Trusted bool
	// SignedBy has lists of files with public keys. An entry counts as confirmed only if it
	// is signed with a key from each list.
	SignedBy [][]string
	// Write says that packages that were fetched from origins are pushed to the mirror.
	// WriteRefused says that the project requests this for a mirror that the user does not
	// trust.
	Write, WriteRefused bool
	// SignKey is the file with the private key that signs pushed entries; "" if there is
	// none.
	SignKey string
}

// Mirrors returns the mirrors of a run in the order in which they are asked: first the
// user's, then the project's. named is the address that the user gave for this run, which
// replaces all others; "" means that there is none. keys are files with public keys that
// the user gave for this run. They are trusted, and entries without a signature by one of
// them confirm nothing.
//
// The author of a repository's cotter.hcl could name a mirror that confirms any lock. So a
// mirror that only a project names confirms nothing, unless the user trusts its address or
// the key that signed an entry. The project's block for a trusted mirror can only add
// requirements.
func Mirrors(user *User, project *Settings, named string, keys []string) []UsedMirror {
	addresses := []string{normalAddress(named)}
	if named == "" {
		addresses = nil
		for _, m := range slices.Concat(user.Mirrors, project.Mirrors) {
			if !slices.Contains(addresses, m.Address) {
				addresses = append(addresses, m.Address)
			}
		}
	}
	var used []UsedMirror
	for _, address := range addresses {
		m := UsedMirror{Address: address, Trusted: named != "" || user.trusts(address)}
		if trusted := slices.Concat(user.TrustKeys, keys); !m.Trusted && len(trusted) > 0 {
			m.SignedBy = append(m.SignedBy, trusted)
		}
		if m.Trusted || m.SignedBy != nil {
			m.require(keys)
		}
		ours, theirs := blockOf(user.Mirrors, address), blockOf(project.Mirrors, address)
		if theirs != nil {
			m.Write, m.WriteRefused = theirs.Write && m.Trusted, theirs.Write && !m.Trusted
			if m.Trusted || m.SignedBy != nil {
				m.require(theirs.SignedBy)
			}
		}
		if ours != nil {
			m.Write, m.SignKey = ours.Write, ours.SignKey
			m.require(ours.SignedBy)
		}
		used = append(used, m)
	}
	return used
}

// require adds a list of keys, one of which must have signed an entry.
func (m *UsedMirror) require(keys []string) {
	if len(keys) > 0 {
		m.SignedBy = append(m.SignedBy, keys)
	}
}

// blockOf returns the block of the mirror with an address, or nil if there is none.
func blockOf(mirrors []Mirror, address string) *Mirror {
	for i := range mirrors {
		if mirrors[i].Address == address {
			return &mirrors[i]
		}
	}
	return nil
}
