package settings

import "slices"

// UsedMirror is a mirror that a run reads from, and how far it is trusted.
type UsedMirror struct {
	// Address is oci://HOST/REPOSITORY.
	Address string
	// Trusted says that the user has named the mirror, so that it confirms entries as an
	// origin does: those that have the signatures of SignedBy. Others confirm only if
	// SignedBy has a list.
	Trusted bool
	// SignedBy are lists of files of public keys. An entry counts as confirmed only if a
	// key of each list has signed it.
	SignedBy [][]string
	// Write says that what was fetched from origins is pushed, and WriteRefused that the
	// project says so of a mirror that the user does not trust.
	Write, WriteRefused bool
	// SignKey is the file of the private key for what is pushed; "" means none.
	SignKey string
}

// Mirrors returns the mirrors of a run in the order in which they are asked: the user's,
// and then the project's. named is the address that the user gave for this run, which
// takes the place of all others; "" means none. keys are files of public keys that the
// user gave for this run. They are trusted, and entries without a signature of one of
// them confirm nothing.
//
// The author of a repository's cotter.hcl could name a mirror that confirms any lock. So a
// mirror that only a project names confirms nothing, unless the user trusts its address or
// the key that has signed an entry. What a project says of a trusted mirror can only make
// it stricter.
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

// blockOf returns the block of the mirror with an address; nil means none.
func blockOf(mirrors []Mirror, address string) *Mirror {
	for i := range mirrors {
		if mirrors[i].Address == address {
			return &mirrors[i]
		}
	}
	return nil
}
