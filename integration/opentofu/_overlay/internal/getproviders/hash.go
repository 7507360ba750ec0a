package getproviders

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opentofu/opentofu/internal/collections"

	"github.com/cotterpin/cotter/hashing"
)

// Hash is a hash with its scheme. The type has more values than Cotter's hashing.Hash: tests and old
// locks have some whose value is not a sum. They are equal to no package's.
type Hash string

// NilHash is no hash.
const NilHash Hash = ""

// HashScheme is the scheme of a hash, with the colon.
type HashScheme string

// The schemes that OpenTofu and Cotter know.
const (
	HashScheme1   HashScheme = "h1:"
	HashSchemeZip HashScheme = "zh:"
)

// emptyPackageHashV1 is the hash of a package without files.
const emptyPackageHashV1 = Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")

// New returns the hash with a value.
func (hs HashScheme) New(value string) Hash { return Hash(string(hs) + value) }

// ParseHash accepts every scheme and value.
func ParseHash(s string) (Hash, error) {
	if strings.Index(s, ":") < 1 {
		return NilHash, fmt.Errorf("%q is not a hash, which begins with a scheme and a colon", s)
	}
	return Hash(s), nil
}

// MustParseHash is ParseHash for hashes that are known to be valid.
func MustParseHash(s string) Hash {
	hash, err := ParseHash(s)
	if err != nil {
		panic(err)
	}
	return hash
}

func (h Hash) split() (HashScheme, string) {
	scheme, value, ok := strings.Cut(string(h), ":")
	if !ok {
		panic(fmt.Sprintf("%q is not a hash", string(h)))
	}
	return HashScheme(scheme + ":"), value
}

// Scheme returns the scheme. It panics if the hash is not valid, as HasScheme and Value do.
func (h Hash) Scheme() HashScheme { scheme, _ := h.split(); return scheme }

// HasScheme reports whether the hash has a scheme.
func (h Hash) HasScheme(want HashScheme) bool { return h.Scheme() == want }

// Value returns the part after the scheme.
func (h Hash) Value() string { _, value := h.split(); return value }

func (h Hash) String() string { return string(h) }

// PackageHash returns the hash of a package that locks record.
func PackageHash(loc PackageLocation) (Hash, error) { return PackageHashV1(loc) }

// PackageHashV1 returns the h1 hash of a package with Cotter.
func PackageHashV1(loc PackageLocation) (Hash, error) {
	at, err := filepath.EvalSymlinks(loc.String())
	if err != nil {
		return NilHash, err
	}
	switch loc.(type) {
	case PackageLocalDir:
		hash, err := hashing.Dir(context.Background(), at)
		return Hash(hash), err
	case PackageLocalArchive:
		archive, err := zip.OpenReader(at)
		if err != nil {
			return NilHash, err
		}
		defer archive.Close()
		hash, err := hashing.FS(archive)
		return Hash(hash), err
	}
	return NilHash, fmt.Errorf("%s is not a package on this machine", loc)
}

// PackageHashLegacyZipSHA returns the zh hash of an archive.
func PackageHashLegacyZipSHA(loc PackageLocalArchive) (Hash, error) {
	at, err := filepath.EvalSymlinks(string(loc))
	if err != nil {
		return NilHash, err
	}
	archive, err := os.Open(at)
	if err != nil {
		return NilHash, err
	}
	defer archive.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, archive); err != nil {
		return NilHash, err
	}
	return HashLegacyZipSHAFromSHA([sha256.Size]byte(sum.Sum(nil))), nil
}

// HashLegacyZipSHAFromSHA returns the zh hash for a sum.
func HashLegacyZipSHAFromSHA(sum [sha256.Size]byte) Hash {
	return HashSchemeZip.New(fmt.Sprintf("%x", sum))
}

// PackageMatchesHash reports whether a package has a hash, whose scheme must be supported.
func PackageMatchesHash(loc PackageLocation, want Hash) (bool, error) {
	_, isArchive := loc.(PackageLocalArchive)
	if want.HasScheme(HashSchemeZip) && !isArchive {
		return false, fmt.Errorf("%s is not an archive, so it has no zh hash", loc)
	}
	if len(PreferredHashes([]Hash{want})) == 0 {
		return false, fmt.Errorf("the scheme of %s is not supported", want)
	}
	return PackageMatchesAnyHash(loc, []Hash{want})
}

// PackageMatchesAnyHash reports whether a package has one of the hashes.
func PackageMatchesAnyHash(loc PackageLocation, allowed []Hash) (bool, error) {
	for _, err := range HashesMatchingPackage(loc, allowed) {
		return err == nil, err
	}
	return false, nil
}

// HashesMatchingPackage yields those of the hashes that a package has. It computes each scheme's
// hash once.
func HashesMatchingPackage(loc PackageLocation, toTest []Hash) iter.Seq2[Hash, error] {
	return func(yield func(Hash, error) bool) {
		computed := make(map[HashScheme]Hash)
		for _, want := range PreferredHashes(toTest) {
			scheme := want.Scheme()
			if _, ok := computed[scheme]; !ok {
				var err error
				if archive, isArchive := loc.(PackageLocalArchive); scheme == HashScheme1 {
					computed[scheme], err = PackageHashV1(loc)
				} else if isArchive {
					computed[scheme], err = PackageHashLegacyZipSHA(archive)
				} else {
					computed[scheme] = NilHash
				}
				if err != nil {
					yield(NilHash, err)
					return
				}
			}
			if computed[scheme] == want && !yield(want, nil) {
				return
			}
		}
	}
}

// PreferredHashes returns the hashes with schemes that are supported.
func PreferredHashes(given []Hash) []Hash {
	var found []Hash
	for _, hash := range given {
		if hash.HasScheme(HashScheme1) || hash.HasScheme(HashSchemeZip) {
			found = append(found, hash)
		}
	}
	return found
}

// Hash returns the hash of the package that locks record.
func (m PackageMeta) Hash() (Hash, error) { return PackageHash(m.Location) }

// HashV1 returns the h1 hash of the package.
func (m PackageMeta) HashV1() (Hash, error) { return PackageHashV1(m.Location) }

// MatchesHash reports whether the package has a hash, whose scheme must be supported.
func (m PackageMeta) MatchesHash(want Hash) (bool, error) {
	return PackageMatchesHash(m.Location, want)
}

// MatchesAnyHash reports whether the package has one of the hashes.
func (m PackageMeta) MatchesAnyHash(acceptable []Hash) (bool, error) {
	return PackageMatchesAnyHash(m.Location, acceptable)
}

// HashDisposition says who confirms a hash. Platform is that of its package, if it is known.
type HashDisposition struct {
	SignedByGPGKeyIDs       collections.Set[string]
	ReportedByRegistry      bool
	VerifiedLocally         bool
	ReportedByTrustedMirror bool
	Platform                *Platform
}

// SignedByAnyGPGKeys reports whether a key has signed the hash.
func (d HashDisposition) SignedByAnyGPGKeys() bool { return len(d.SignedByGPGKeyIDs) > 0 }

// GPGSigningKeysString lists the keys that have signed the hash.
func (d HashDisposition) GPGSigningKeysString() string { return keyList(d.SignedByGPGKeyIDs) }

func keyList(keys collections.Set[string]) string {
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}

// MergeHashDisposition returns what two dispositions of one hash say together. It panics if they are
// about different platforms.
func MergeHashDisposition(a, b *HashDisposition) *HashDisposition {
	merged := &HashDisposition{
		ReportedByRegistry:      a.ReportedByRegistry || b.ReportedByRegistry,
		VerifiedLocally:         a.VerifiedLocally || b.VerifiedLocally,
		ReportedByTrustedMirror: a.ReportedByTrustedMirror || b.ReportedByTrustedMirror,
		Platform:                a.Platform,
	}
	if merged.Platform == nil {
		merged.Platform = b.Platform
	} else if b.Platform != nil && *b.Platform != *a.Platform {
		panic(fmt.Sprintf("one hash of the packages for %s and for %s", a.Platform, b.Platform))
	}
	for _, keys := range []collections.Set[string]{a.SignedByGPGKeyIDs, b.SignedByGPGKeyIDs} {
		if len(keys) > 0 && merged.SignedByGPGKeyIDs == nil {
			merged.SignedByGPGKeyIDs = make(collections.Set[string])
		}
		maps.Copy(merged.SignedByGPGKeyIDs, keys)
	}
	return merged
}

// HashDispositions says who confirms each of some hashes.
type HashDispositions map[Hash]*HashDisposition

func (ds HashDispositions) any(cond func(*HashDisposition) bool) bool {
	for _, disposition := range ds {
		if cond(disposition) {
			return true
		}
	}
	return false
}

// AllGPGSigningKeysString lists the keys that have signed one of the hashes.
func (ds HashDispositions) AllGPGSigningKeysString() string {
	all := make(collections.Set[string])
	for _, disposition := range ds {
		maps.Copy(all, disposition.SignedByGPGKeyIDs)
	}
	return keyList(all)
}

// HasAnyReportedByRegistry reports whether a registry has reported one of the hashes.
func (ds HashDispositions) HasAnyReportedByRegistry() bool {
	return ds.any(func(d *HashDisposition) bool { return d.ReportedByRegistry })
}

// HasAnyReportedByTrustedMirror reports whether a trusted mirror has reported one of the hashes.
func (ds HashDispositions) HasAnyReportedByTrustedMirror() bool {
	return ds.any(func(d *HashDisposition) bool { return d.ReportedByTrustedMirror })
}

// HasAnySignedByGPGKeys reports whether a key has signed one of the hashes.
func (ds HashDispositions) HasAnySignedByGPGKeys() bool {
	return ds.any(func(d *HashDisposition) bool { return d.SignedByAnyGPGKeys() })
}

// Merge adds others.
func (ds HashDispositions) Merge(other HashDispositions) {
	for hash, disposition := range other {
		if known, ok := ds[hash]; ok {
			disposition = MergeHashDisposition(known, disposition)
		}
		ds[hash] = disposition
	}
}
