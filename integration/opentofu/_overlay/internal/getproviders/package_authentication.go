package getproviders

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/collections"

	cotter "github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/registryclient"
)

const (
	enforceGPGValidationEnvName = "OPENTOFU_ENFORCE_GPG_VALIDATION"
	enforceGPGExpirationEnvName = "OPENTOFU_ENFORCE_GPG_EXPIRATION"
)

// ErrUnknownIssuer means that none of the offered keys made a signature.
var ErrUnknownIssuer = errors.New("no signing key of the registry made the signature")

// packageAuthenticationResult describes a result for users.
type packageAuthenticationResult string

const (
	unauthenticated  packageAuthenticationResult = "unauthenticated"
	verifiedChecksum packageAuthenticationResult = "verified checksum"
	signed           packageAuthenticationResult = "signed"
	signingSkipped   packageAuthenticationResult = "signing skipped"
)

// PackageAuthenticationResult is what is known about the hashes of a package. nil knows nothing.
type PackageAuthenticationResult struct {
	hashes HashDispositions
}

// NewPackageAuthenticationResult returns a result with these hashes.
func NewPackageAuthenticationResult(hashes HashDispositions) *PackageAuthenticationResult {
	return &PackageAuthenticationResult{hashes: hashes}
}

// has reports whether a condition holds for one of the hashes.
func (t *PackageAuthenticationResult) has(cond func(*HashDisposition) bool) bool {
	for range t.HashesWithDisposition(cond) {
		return true
	}
	return false
}

// summaryResult returns the strongest thing that is known about the hashes.
func (t *PackageAuthenticationResult) summaryResult() packageAuthenticationResult {
	switch {
	case t.Signed():
		return signed
	case t.has(func(d *HashDisposition) bool { return d.ReportedByRegistry }):
		return signingSkipped
	case t.has(func(d *HashDisposition) bool { return d.VerifiedLocally }):
		return verifiedChecksum
	case t.SigningSkipped():
		return signingSkipped
	}
	return unauthenticated
}

// String describes the result for users.
func (t *PackageAuthenticationResult) String() string { return string(t.summaryResult()) }

// HashesWithDisposition yields the hashes for which a condition holds.
func (t *PackageAuthenticationResult) HashesWithDisposition(cond func(*HashDisposition) bool) iter.Seq[Hash] {
	return func(yield func(Hash) bool) {
		if t == nil {
			return
		}
		for hash, disposition := range t.hashes {
			if cond(disposition) && !yield(hash) {
				return
			}
		}
	}
}

// GPGKeyIDsString lists the keys of all signatures.
func (t *PackageAuthenticationResult) GPGKeyIDsString() string {
	if t == nil {
		return ""
	}
	return t.hashes.AllGPGSigningKeysString()
}

// Signed reports whether a key has signed one of the hashes.
func (t *PackageAuthenticationResult) Signed() bool {
	return t != nil && t.hashes.HasAnySignedByGPGKeys()
}

// SigningSkipped reports whether the hashes come from a trusted server and are not signed.
func (t *PackageAuthenticationResult) SigningSkipped() bool {
	return t != nil && !t.Signed() && (t.hashes.HasAnyReportedByRegistry() || t.hashes.HasAnyReportedByTrustedMirror())
}

// SigningKey is a key that a registry offers.
type SigningKey struct {
	ASCIIArmor string `json:"ascii_armor"`
}

// PackageAuthentication checks a package that is on this machine.
type PackageAuthentication interface {
	AuthenticatePackage(localLocation PackageLocation) (*PackageAuthenticationResult, error)
}

type packageAuthenticationAll []PackageAuthentication

// PackageAuthenticationAll returns an authentication that passes if all checks pass.
func PackageAuthenticationAll(checks ...PackageAuthentication) PackageAuthentication {
	return packageAuthenticationAll(checks)
}

func (checks packageAuthenticationAll) AuthenticatePackage(at PackageLocation) (*PackageAuthenticationResult, error) {
	all := make(HashDispositions)
	for _, check := range checks {
		result, err := check.AuthenticatePackage(at)
		switch {
		case err != nil:
			return nil, err
		case result != nil:
			all.Merge(result.hashes)
		}
	}
	return NewPackageAuthenticationResult(all), nil
}

// packageHashAuthentication requires one of RequiredHashes.
type packageHashAuthentication struct {
	RequiredHashes []Hash
	AllHashes      []Hash
	Platform       Platform
	TrustAllHashes bool
}

// NewPackageHashAuthentication returns an authentication that requires one of the hashes. With
// trustAllHashes, the others count as reported by a trusted mirror.
func NewPackageHashAuthentication(platform Platform, validHashes []Hash, trustAllHashes bool) PackageAuthentication {
	return packageHashAuthentication{PreferredHashes(validHashes), validHashes, platform, trustAllHashes}
}

func (a packageHashAuthentication) AuthenticatePackage(at PackageLocation) (*PackageAuthenticationResult, error) {
	if len(a.RequiredHashes) == 0 {
		return nil, errors.New("the hashes of this package have schemes that are not supported")
	}
	found := make(HashDispositions)
	for hash, err := range HashesMatchingPackage(at, a.RequiredHashes) {
		if err != nil {
			return nil, fmt.Errorf("hash of %s: %w", at, err)
		}
		found[hash] = &HashDisposition{VerifiedLocally: true, Platform: &a.Platform}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has none of the hashes %q", at, a.RequiredHashes)
	}
	for _, hash := range a.RequiredHashes {
		if found[hash] == nil && a.TrustAllHashes {
			found[hash] = &HashDisposition{ReportedByTrustedMirror: true, Platform: &a.Platform}
		}
	}
	return NewPackageAuthenticationResult(found), nil
}

// archiveHashAuthentication requires the sum of an archive.
type archiveHashAuthentication struct {
	Platform      Platform
	WantSHA256Sum [sha256.Size]byte
}

// NewArchiveChecksumAuthentication returns an authentication that requires an archive with a sum.
func NewArchiveChecksumAuthentication(platform Platform, wantSHA256Sum [sha256.Size]byte) PackageAuthentication {
	return archiveHashAuthentication{platform, wantSHA256Sum}
}

func (a archiveHashAuthentication) AuthenticatePackage(at PackageLocation) (*PackageAuthenticationResult, error) {
	archive, ok := at.(PackageLocalArchive)
	if !ok {
		return nil, fmt.Errorf("%s is not an archive", at)
	}
	got, err := PackageHashLegacyZipSHA(archive)
	if err != nil {
		return nil, fmt.Errorf("sum of %s: %w", at, err)
	}
	if want := HashLegacyZipSHAFromSHA(a.WantSHA256Sum); got != want {
		return nil, fmt.Errorf("%s has the hash %s, want %s", at, got, want)
	}
	return NewPackageAuthenticationResult(HashDispositions{got: {VerifiedLocally: true, Platform: &a.Platform}}), nil
}

// matchingChecksumAuthentication requires that a document of sums lists a file with a sum.
type matchingChecksumAuthentication struct {
	Document      []byte
	Filename      string
	WantSHA256Sum [sha256.Size]byte
}

// NewMatchingChecksumAuthentication returns an authentication that compares a document of sums with
// the sum that a registry announces.
func NewMatchingChecksumAuthentication(document []byte, filename string, wantSHA256Sum [sha256.Size]byte) PackageAuthentication {
	return matchingChecksumAuthentication{document, filename, wantSHA256Sum}
}

func (m matchingChecksumAuthentication) AuthenticatePackage(PackageLocation) (*PackageAuthenticationResult, error) {
	for line := range strings.Lines(string(m.Document)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.TrimPrefix(fields[1], "*") != m.Filename {
			continue
		}
		if want := hex.EncodeToString(m.WantSHA256Sum[:]); !strings.EqualFold(fields[0], want) {
			return nil, fmt.Errorf("the document of sums has %q for %s, want %s", fields[0], m.Filename, want)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("the document of sums does not list %s", m.Filename)
}

// RegistryPlatformData is what a registry reports about the package of one platform.
type RegistryPlatformData struct {
	Hashes      []Hash
	PackageSize int64
}

// registryPackageAuthentication requires that a package is what its registry reports.
type registryPackageAuthentication struct {
	Meta        PackageMeta
	SHA256Sum   string
	PackageData map[Platform]RegistryPlatformData
}

// NewRegistryPackageAuthentication returns an authentication that compares a package with the report
// of its registry, if there is one.
func NewRegistryPackageAuthentication(meta PackageMeta, sha256sum string, packageData map[Platform]RegistryPlatformData) PackageAuthentication {
	return &registryPackageAuthentication{meta, sha256sum, packageData}
}

func (a *registryPackageAuthentication) AuthenticatePackage(at PackageLocation) (*PackageAuthenticationResult, error) {
	if len(a.PackageData) == 0 {
		return nil, nil
	}
	own, ok := a.PackageData[a.Meta.TargetPlatform]
	if !ok {
		return nil, fmt.Errorf("the registry's report does not list %s", a.Meta.TargetPlatform)
	}
	file, err := filepath.EvalSymlinks(at.String())
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if own.PackageSize <= 0 || info.Size() != own.PackageSize {
		return nil, fmt.Errorf("the package has %d bytes, and the registry reports %d", info.Size(), own.PackageSize)
	}
	zips := slices.DeleteFunc(slices.Clone(own.Hashes), func(h Hash) bool { return !h.HasScheme(HashSchemeZip) })
	want := HashSchemeZip.New(a.SHA256Sum)
	if len(zips) == 0 || slices.ContainsFunc(zips, func(h Hash) bool { return h != want }) {
		return nil, fmt.Errorf("the registry reports %q for the package, and announces %s", zips, want)
	}
	found := make(HashDispositions)
	for platform, reported := range a.PackageData {
		for _, hash := range PreferredHashes(reported.Hashes) {
			found[hash] = &HashDisposition{ReportedByRegistry: true, Platform: &platform}
		}
	}
	return NewPackageAuthenticationResult(found), nil
}

// signatureAuthentication requires a good signature of a document of sums.
type signatureAuthentication struct {
	Document       []byte
	Signature      []byte
	Keys           []SigningKey
	ProviderSource addrs.Provider
	Meta           PackageMeta
}

// NewSignatureAuthentication returns an authentication that checks the signature of a document of
// sums with Cotter.
func NewSignatureAuthentication(meta PackageMeta, document, signature []byte, keys []SigningKey, source addrs.Provider) PackageAuthentication {
	return signatureAuthentication{document, signature, keys, source, meta}
}

// ShouldEnforceGPGValidationForProvider reports whether a provider needs a signature even if its
// registry offers no keys.
func ShouldEnforceGPGValidationForProvider(addr addrs.Provider) bool {
	return addr.Hostname != addrs.DefaultProviderRegistryHost || os.Getenv(enforceGPGValidationEnvName) == "true"
}

func (s signatureAuthentication) shouldEnforceGPGValidation() bool {
	return len(s.Keys) > 0 || ShouldEnforceGPGValidationForProvider(s.ProviderSource)
}

func (s signatureAuthentication) AuthenticatePackage(at PackageLocation) (*PackageAuthenticationResult, error) {
	if !s.shouldEnforceGPGValidation() {
		log.Printf("[WARN] %s has no signature, because its registry offers no keys", at)
		return s.result(s.sums(), nil), nil
	}
	var keys []registryclient.SigningKey
	for _, key := range s.Keys {
		keys = append(keys, registryclient.SigningKey{Armor: key.ASCIIArmor})
	}
	rules := cotter.Direct{AllowWeakSignatures: true, RefuseExpired: os.Getenv(enforceGPGExpirationEnvName) == "true"}
	sums, err := rules.VerifySums(s.Document, s.Signature, keys)
	switch {
	case errors.Is(err, cotter.ErrUnknownKey), errors.Is(err, cotter.ErrNoKeys):
		return nil, fmt.Errorf("%w: %w", ErrUnknownIssuer, err)
	case err != nil:
		return nil, err
	}
	for _, warning := range sums.Warnings {
		fmt.Printf("[WARN] Provider %s: %s\n", s.ProviderSource, warning)
	}
	var hashes []Hash
	for _, hash := range sums.Hashes {
		hashes = append(hashes, Hash(hash))
	}
	return s.result(hashes, collections.NewSet(sums.KeyID)), nil
}

func (s signatureAuthentication) result(hashes []Hash, keys collections.Set[string]) *PackageAuthenticationResult {
	found := make(HashDispositions)
	for _, hash := range hashes {
		found[hash] = &HashDisposition{ReportedByRegistry: true, SignedByGPGKeyIDs: keys}
	}
	return NewPackageAuthenticationResult(found)
}

// sums returns the hashes in a document that is not signed, or nil if a line is malformed.
func (s signatureAuthentication) sums() []Hash {
	var found []Hash
	for line := range strings.Lines(string(s.Document)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if sum, err := hex.DecodeString(fields[0]); err != nil || len(sum) != sha256.Size || len(fields) < 2 {
			return nil
		}
		found = append(found, HashSchemeZip.New(strings.ToLower(fields[0])))
	}
	return found
}

// entityString describes a key. Only a test of OpenTofu calls it.
func entityString(entity *openpgp.Entity) string {
	if entity == nil {
		return ""
	}
	text := entity.PrimaryKey.KeyIdString()
	for name := range entity.Identities {
		text += " " + name
	}
	return text
}
