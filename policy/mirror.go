package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Mirror is a mirror block: a repository of an OCI registry that has locked packages.
type Mirror struct {
	// Address is oci://HOST/REPOSITORY, with the host in lower case.
	Address string
	// Write says that packages that were fetched from their origins are pushed to the
	// mirror.
	Write bool
	// SignedBy lists files with public keys. If the list is not empty, an entry counts as
	// confirmed only if it is signed with one of the keys.
	SignedBy []string
	// SignKey is the file with the private key that signs pushed entries; "" if there is
	// none. Only the user's file may have it.
	SignKey string
}

// mirrorScheme is the beginning of the addresses of mirrors.
const mirrorScheme = "oci://"

// readMirrors reads mirror blocks. Only the user's own blocks may name a private key.
func readMirrors(blocks hcl.Blocks, ofUser bool) (mirrors []Mirror, diags hcl.Diagnostics) {
	lines := make(map[string]int)
	for _, block := range blocks {
		m, problems := readMirror(block, ofUser)
		if line, again := lines[m.Address]; again && !problems.HasErrors() {
			problems = settingsPart.failure(block.DefRange, "A mirror has only one block; the first one of %s is on line %d.", m.Address, line)
		}
		lines[m.Address] = block.DefRange.Start.Line
		diags = append(diags, problems...)
		mirrors = append(mirrors, m)
	}
	return mirrors, diags
}

func readMirror(block *hcl.Block, ofUser bool) (m Mirror, diags hcl.Diagnostics) {
	var err error
	if m.Address, err = parseMirrorAddress(block.Labels[0]); err != nil {
		return m, settingsPart.failure(block.LabelRanges[0], "mirror: %s.", err)
	}
	_, diags = settingsPart.readArguments(block.Body, arguments{
		"mode":      choice(&m.Write, map[string]bool{"read": false, "write": true}),
		"signed_by": keyFiles(&m.SignedBy, ofUser),
		"sign_key": func(value cty.Value) (err error) {
			if !ofUser {
				return errors.New("only the user's own settings may name a private key")
			}
			m.SignKey, err = fileName(value)
			return err
		},
	})
	return m, diags
}

// parseMirrorAddress returns the address of a mirror in the form for comparisons.
func parseMirrorAddress(text string) (string, error) {
	host, repository, found := strings.Cut(strings.TrimPrefix(text, mirrorScheme), "/")
	if !strings.HasPrefix(text, mirrorScheme) || !found || host == "" || repository == "" || strings.ContainsAny(text, "?#@* ") {
		return "", errors.New("its address must be oci://HOST/REPOSITORY")
	}
	return normalAddress(text), nil
}

// normalAddress returns an address with its host in lower case.
func normalAddress(address string) string {
	host, repository, found := strings.Cut(strings.TrimPrefix(address, mirrorScheme), "/")
	if !found || !strings.HasPrefix(address, mirrorScheme) {
		return address
	}
	return mirrorScheme + strings.ToLower(host) + "/" + repository
}

// MirrorPattern matches mirrors. It is the address of one mirror, or oci://HOST/PREFIX/*
// for all mirrors whose addresses begin with that prefix.
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

// Matches reports whether the pattern matches the mirror with an address.
func (p MirrorPattern) Matches(address string) bool {
	if prefix, all := strings.CutSuffix(string(p), "*"); all {
		return strings.HasPrefix(normalAddress(address), prefix)
	}
	return normalAddress(address) == string(p)
}

// keyFiles returns the function for an argument that is a list of files with keys. The files can be
// anywhere, or must be below the directory of cotter.hcl.
func keyFiles(to *[]string, anywhere bool) func(cty.Value) error {
	return list(to, 1, "names of files", func(value cty.Value) (string, error) {
		name, err := fileName(value)
		if err != nil || anywhere {
			return name, err
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", fmt.Errorf("%q is not below the directory of the file", name)
		}
		return name, notMetadata(name)
	})
}

func fileName(value cty.Value) (string, error) {
	name, err := stringOf(value)
	if err != nil || name == "" {
		return "", errors.New("it must name a file")
	}
	return name, nil
}

// inDir makes relative file names relative to dir.
func inDir(dir string, mirrors []Mirror) {
	for i := range mirrors {
		m := &mirrors[i]
		for j := range m.SignedBy {
			m.SignedBy[j] = below(dir, m.SignedBy[j])
		}
		if m.SignKey != "" {
			m.SignKey = below(dir, m.SignKey)
		}
	}
}

func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}
