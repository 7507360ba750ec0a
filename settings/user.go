package settings

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// User has the settings of a user. The zero value sets nothing.
type User struct {
	// Mirrors are the mirrors that the user names. They confirm entries of locks.
	Mirrors []Mirror
	// TrustMirrors are the mirrors that confirm entries if a project names them.
	TrustMirrors []MirrorPattern
	// TrustKeys lists files with public keys. An entry that is signed with one of the keys
	// is confirmed, in any mirror.
	TrustKeys []string
}

// ParseUser parses the settings of a user; the package comment describes the format.
// Relative names of key files are relative to the directory of the file. If the diagnostics
// contain errors, the settings are nil.
func ParseUser(src []byte, filename string) (*User, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, failure(hcl.Range{Filename: filename}, fmt.Sprintf("The file has more than %d bytes.", MaxSize))
	}
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	u := &User{}
	content, rest, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{mirrorHeader}})
	diags = append(diags, readArguments(rest, map[string]func(cty.Value) error{
		"trust_mirrors": u.setTrustMirrors,
		"trust_keys":    files(&u.TrustKeys, true),
	})...)
	if diags.HasErrors() {
		return nil, diags
	}
	if u.Mirrors, diags = readMirrors(content.Blocks, true); diags.HasErrors() {
		return nil, diags
	}
	dir := filepath.Dir(filename)
	inDir(dir, u.Mirrors)
	for i := range u.TrustKeys {
		u.TrustKeys[i] = below(dir, u.TrustKeys[i])
	}
	return u, nil
}

func (u *User) setTrustMirrors(value cty.Value) error {
	if value.IsNull() || !value.Type().IsTupleType() {
		return errors.New("it must be a list of addresses")
	}
	for _, element := range value.AsValueSlice() {
		text, err := stringOf(element)
		if err != nil {
			return errors.New("each address must be a string")
		}
		pattern, err := parseMirrorPattern(text)
		if err != nil {
			return err
		}
		u.TrustMirrors = append(u.TrustMirrors, pattern)
	}
	return nil
}

// trusts reports whether the user trusts the mirror with an address.
func (u *User) trusts(address string) bool {
	for _, pattern := range u.TrustMirrors {
		if pattern.Matches(address) {
			return true
		}
	}
	return blockOf(u.Mirrors, address) != nil
}
