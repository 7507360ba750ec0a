package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Mirror is a mirror block: a repository of an OCI registry that has locked packages.
type Mirror struct {
	// Address is oci://HOST/REPOSITORY, with the host in lower case.
	Address string
	// Write says that packages that were fetched from their origins are pushed to the mirror.
	Write bool
}

// ErrMirrorSignatures is the error for a setting of the removed signatures of mirrors. It is not ignored,
// because users rely on it.
var ErrMirrorSignatures = errors.New("signatures of mirrors were removed: anyone who can write to a mirror that you trust confirms its entries, so restrict in its registry who can write")

const mirrorScheme = "oci://"

func readMirrors(blocks hcl.Blocks) (mirrors []Mirror, diags hcl.Diagnostics) {
	lines := make(map[string]int)
	for _, block := range blocks {
		m, problems := readMirror(block)
		if line, again := lines[m.Address]; again && !problems.HasErrors() {
			problems = settingsPart.failure(block.DefRange, "A mirror has only one block; the first one of %s is on line %d.", m.Address, line)
		}
		lines[m.Address] = block.DefRange.Start.Line
		diags = append(diags, problems...)
		mirrors = append(mirrors, m)
	}
	return mirrors, diags
}

func readMirror(block *hcl.Block) (m Mirror, diags hcl.Diagnostics) {
	var err error
	if m.Address, err = parseMirrorAddress(block.Labels[0]); err != nil {
		return m, settingsPart.failure(block.LabelRanges[0], "mirror: %s.", err)
	}
	_, diags = settingsPart.readArguments(block.Body, arguments{
		"mode":      choice(&m.Write, map[string]bool{"read": false, "write": true}),
		"signed_by": noSignatures,
		"sign_key":  noSignatures,
	})
	return m, diags
}

func noSignatures(cty.Value) error { return ErrMirrorSignatures }

func parseMirrorAddress(text string) (string, error) {
	host, repository, found := strings.Cut(strings.TrimPrefix(text, mirrorScheme), "/")
	if !strings.HasPrefix(text, mirrorScheme) || !found || host == "" || repository == "" || strings.ContainsAny(text, "?#@* ") {
		return "", errors.New("its address must be oci://HOST/REPOSITORY")
	}
	return normalAddress(text), nil
}

func normalAddress(address string) string {
	host, repository, found := strings.Cut(strings.TrimPrefix(address, mirrorScheme), "/")
	if !found || !strings.HasPrefix(address, mirrorScheme) {
		return address
	}
	return mirrorScheme + strings.ToLower(host) + "/" + repository
}

// MirrorPattern is the address of a mirror, or oci://HOST/PREFIX/* for all that begin with that prefix.
type MirrorPattern string

func parseMirrorPattern(text string) (MirrorPattern, error) {
	address, all := strings.CutSuffix(text, "/*")
	if all && strings.HasPrefix(address, mirrorScheme) && !strings.Contains(address[len(mirrorScheme):], "/") {
		address += "/" // the pattern matches a whole registry
		if host := address[len(mirrorScheme):]; host == "/" || strings.ContainsAny(host, "?#@* ") {
			return "", fmt.Errorf("%q is not oci://HOST/REPOSITORY or oci://HOST/PREFIX/*", text)
		}
		return MirrorPattern(normalAddress(address) + "*"), nil
	}
	normal, err := parseMirrorAddress(address)
	if err != nil {
		return "", fmt.Errorf("%q is not oci://HOST/REPOSITORY or oci://HOST/PREFIX/*", text)
	}
	if all {
		normal += "/*"
	}
	return MirrorPattern(normal), nil
}

// Matches reports whether the pattern matches the address of a mirror.
func (p MirrorPattern) Matches(address string) bool {
	if prefix, all := strings.CutSuffix(string(p), "*"); all {
		return strings.HasPrefix(normalAddress(address), prefix)
	}
	return normalAddress(address) == string(p)
}
