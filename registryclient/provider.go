package registryclient

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ProviderListing is the answer of a registry about a provider.
type ProviderListing struct {
	// Versions are in the order of the answer.
	Versions []ProviderVersion
	// Warnings are texts to show to the user.
	Warnings []string
}

// ProviderVersion is one version of a provider in a registry's listing.
type ProviderVersion struct {
	Version versions.Version
	// Protocols are the versions of the plugin protocol, such as "5.0". Platforms are the
	// platforms that have packages. Entries in other forms are left out. Neither field
	// affects the selection of a version.
	Protocols []string
	Platforms []addrs.Platform
}

// Compatible reports whether stock tools support one of the version's protocols. A version
// without protocols is compatible.
func (v ProviderVersion) Compatible() bool { return supportsProtocol(v.Protocols) }

// ProviderPackage is the location of a provider's package for one platform at its registry,
// with the data to verify the package. Nothing in it has been verified yet.
type ProviderPackage struct {
	Provider addrs.Provider
	Version  versions.Version
	Platform addrs.Platform
	// Protocols are the supported versions of the plugin protocol.
	Protocols []string
	// Filename is the archive's name in the document of sums.
	Filename string
	// URL is the address of the archive, SumsURL of the document of sums, and SignatureURL
	// of its detached signature. All are absolute http or https URLs, and may contain
	// credentials.
	URL, SumsURL, SignatureURL string
	// Sum is the archive's SHA-256 in lower-case hexadecimal.
	Sum string
	// Keys are the OpenPGP keys that the registry offers for checking the signature.
	Keys []SigningKey
	// Packages is the registry's report about the packages of all platforms, in the newer
	// form of the answer; nil if there is no report.
	Packages map[addrs.Platform]ReportedPackage
}

// SigningKey is an OpenPGP key as a registry offers it.
type SigningKey struct {
	// ID is the key's ID in hexadecimal, as the registry writes it. It is not checked.
	ID string
	// Armor is the ASCII-armored public key.
	Armor string
	// TrustSignature, Source and SourceURL describe the owner of the key, according to the
	// registry.
	TrustSignature, Source, SourceURL string
}

// ReportedPackage is what a registry reports about one platform's package.
type ReportedPackage struct {
	// Size is the archive's length in bytes; 0 if it is not reported.
	Size int64
	// Hashes are the hashes of the package with the schemes "h1:" and "zh:". Hashes of
	// other schemes are left out.
	Hashes []string
}
