package registryclient

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ProviderListing is what a registry answers about a provider.
type ProviderListing struct {
	// Versions are in the order of the answer.
	Versions []ProviderVersion
	// Warnings are texts for the user.
	Warnings []string
}

// ProviderVersion is one version of a provider in a registry's listing.
type ProviderVersion struct {
	Version versions.Version
	// Protocols are the versions of the plugin protocol, such as "5.0", and Platforms
	// what there are packages for; entries of other forms are left out. Neither decides which version is selected.
	Protocols []string
	Platforms []addrs.Platform
}

// Compatible reports whether stock tools can run this version by its protocols. A
// version that names none is compatible.
func (v ProviderVersion) Compatible() bool { return supportsProtocol(v.Protocols) }

// ProviderPackage is where a registry has the package of a provider's version for one
// platform, and what it is to be checked by. Nothing in it is proven yet.
type ProviderPackage struct {
	Provider addrs.Provider
	Version  versions.Version
	Platform addrs.Platform
	// Protocols are the versions of the plugin protocol that it has.
	Protocols []string
	// Filename is the archive's name in the document of sums.
	Filename string
	// URL is the archive's address; SumsURL and SignatureURL are those of the
	// document of sums and of its detached signature. All are absolute, by http or
	// https, and may have credentials in them.
	URL, SumsURL, SignatureURL string
	// Sum is the archive's SHA-256 in lower-case hexadecimal.
	Sum string
	// Keys are the OpenPGP keys that the registry offers to check the signature with.
	Keys []SigningKey
	// Packages is what the registry reports about the packages of all platforms, in
	// the newer form of the answer; nil if it says nothing.
	Packages map[addrs.Platform]ReportedPackage
}

// SigningKey is an OpenPGP key as a registry offers it.
type SigningKey struct {
	// ID is the key's id in hexadecimal, as the registry has it; it is not checked.
	ID string
	// Armor is the ASCII-armoured public key.
	Armor string
	// TrustSignature, Source and SourceURL say whose key the registry takes it for.
	TrustSignature, Source, SourceURL string
}

// ReportedPackage is what a registry reports about one platform's package.
type ReportedPackage struct {
	// Size is the archive's length in bytes; 0 if it is not reported.
	Size int64
	// Hashes are those of the package, with schemes such as "h1:" and "zh:". Those of
	// unknown schemes are left out.
	Hashes []string
}
