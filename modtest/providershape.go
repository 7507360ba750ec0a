package modtest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// ProviderShape is the form of a provider version in the registry, not in mirrors. Clients should accept
// those from ProviderSigned to ProviderMalformedLine, and refuse all others.
type ProviderShape int

const (
	// ProviderSigned has an archive, a document of sums and a signature that match each other.
	ProviderSigned ProviderShape = iota
	// ProviderNullKey offers null before the right key.
	ProviderNullKey
	// ProviderBrokenKey offers an unreadable key before the right one.
	ProviderBrokenKey
	// ProviderExpiredKey is signed by a key that has expired since then.
	ProviderExpiredKey
	// ProviderBlankLines has blank lines in the document of sums.
	ProviderBlankLines
	// ProviderMalformedLine has a comment in the document of sums, so that a lock records no sum.
	ProviderMalformedLine
	// ProviderNoKeys offers no keys. Stock tools accept that for some hosts.
	ProviderNoKeys
	// ProviderUnknownKey is signed by a key that is not offered.
	ProviderUnknownKey
	// ProviderWrongSignature has the signature of a different document.
	ProviderWrongSignature
	// ProviderArmoredSignature has a signature in ASCII armour.
	ProviderArmoredSignature
	// ProviderOtherSum announces a sum that differs from those of the document and the archive.
	ProviderOtherSum
	// ProviderOtherListedSum has wrong sums in its signed document.
	ProviderOtherListedSum
	// ProviderNotListed has a document of sums that does not list the archive.
	ProviderNotListed
	// ProviderChangedArchive serves an archive of the same length with different bytes.
	ProviderChangedArchive
	// ProviderOtherPlatform describes another platform than the requested one.
	ProviderOtherPlatform
	// ProviderNoFilename does not contain the name of the archive.
	ProviderNoFilename
	// ProviderWeakKey is signed by an RSA key of 1024 bits. Stock tools accept that.
	ProviderWeakKey
)

func (r *providerRelease) key() (*providerKey, error) {
	switch r.shape {
	case ProviderExpiredKey:
		return expiredKey()
	case ProviderUnknownKey:
		return strangerKey()
	case ProviderWeakKey:
		return weakKey()
	}
	return worldKey()
}

// offered returns keys as JSON values.
func (r *providerRelease) offered() ([]any, error) {
	key, err := r.key()
	if r.shape == ProviderUnknownKey {
		key, err = worldKey()
	}
	if err != nil {
		return nil, err
	}
	right := map[string]string{"key_id": key.id(), "ascii_armor": key.armor}
	switch r.shape {
	case ProviderNoKeys:
		return []any{}, nil
	case ProviderNullKey:
		return []any{nil, right}, nil
	case ProviderBrokenKey:
		return []any{map[string]string{"key_id": "BROKEN", "ascii_armor": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!\n"}, right}, nil
	}
	return []any{right}, nil
}

// otherSum has the same form.
func otherSum(sum string) string {
	return strings.Map(func(r rune) rune {
		if r == '0' {
			return '1'
		}
		return '0'
	}, sum)
}

func (r *providerRelease) sums() []byte {
	var text bytes.Buffer
	if r.shape == ProviderMalformedLine {
		text.WriteString("# sums\n")
	}
	for _, p := range r.packages {
		sum, name := p.sum, p.filename
		switch r.shape {
		case ProviderOtherListedSum:
			sum = otherSum(sum)
		case ProviderNotListed:
			name = "other-" + name
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
		if r.shape == ProviderBlankLines {
			text.WriteString("\n")
		}
	}
	return text.Bytes()
}

func (r *providerRelease) signature() ([]byte, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	switch r.shape {
	case ProviderWrongSignature:
		return key.sign(append(r.sums(), '\n'))
	case ProviderArmoredSignature:
		return key.signArmored(r.sums())
	}
	return key.sign(r.sums())
}

// served is the archive that the registry serves.
func (r *providerRelease) served(p providerPackage) []byte {
	if r.shape != ProviderChangedArchive {
		return p.archive
	}
	changed := slices.Clone(p.archive)
	changed[len(changed)/2] ^= 1
	return changed
}

// providerProtocols are the plugin protocol versions of all packages.
var providerProtocols = []string{"5.0"}

func (r *providerRelease) answer(p providerPackage, opts Options) (map[string]any, error) {
	keys, err := r.offered()
	if err != nil {
		return nil, err
	}
	// These are outside of the registry's own paths, for which a token is meant.
	at := providerFiles + r.name + "/" + r.version + "/"
	body := map[string]any{
		"protocols":             providerProtocols,
		"os":                    p.platform.OS,
		"arch":                  p.platform.Arch,
		"filename":              p.filename,
		"download_url":          at + p.filename,
		"shasum":                p.sum,
		"shasums_url":           at + r.sumsName(),
		"shasums_signature_url": at + r.sumsName() + ".sig",
		"signing_keys":          map[string]any{"gpg_public_keys": keys},
	}
	switch r.shape {
	case ProviderOtherSum:
		body["shasum"] = otherSum(p.sum)
	case ProviderOtherPlatform:
		body["os"] = "other" + p.platform.OS
	case ProviderNoFilename:
		delete(body, "filename")
	}
	if opts.ProviderReported {
		body["packages"] = r.reported()
	}
	return body, nil
}

// reported describes the packages of all platforms.
func (r *providerRelease) reported() map[string]any {
	all := map[string]any{}
	for _, p := range r.packages {
		all[p.platform.String()] = map[string]any{"package_size": len(p.archive), "hashes": p.hashes()}
	}
	return all
}

// hashes are in the form in which the registry and the mirrors list them.
func (p providerPackage) hashes() []string { return []string{string(p.h1), "zh:" + p.sum} }
