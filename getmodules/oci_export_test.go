package getmodules

import "github.com/cotterpin/cotter/addrs"

// OCIReference returns the host, the repository and the reference of an oci address.
func OCIReference(address string) (host, repository, reference string, err error) {
	a, err := parseOCIAddress(addrs.ParseModulePackage(address))
	if err != nil {
		return "", "", "", err
	}
	return a.host, a.repository, a.reference(), nil
}

// CheckOCIManifest checks a manifest and returns the digest of its layer.
func CheckOCIManifest(mediaType string, text []byte, limit int64) (string, error) {
	layer, err := moduleLayer(mediaType, text, limit)
	return layer.Digest, err
}

// SameSite exports sameSite.
var SameSite = sameSite
