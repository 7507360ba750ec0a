package settings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hcldepth"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// MaxSize is the maximum size of the file, in bytes.
const MaxSize = 1 << 20

// Settings are the settings of a project. The zero value sets nothing.
type Settings struct {
	// For is the stock tool: "tofu", "terraform" or "auto"; "" if it is not set.
	For string
	// LockFile is the path of the lock, relative to the root module; "" if it is not set.
	LockFile string
	// Layout is "link" or "copy"; "" if it is not set.
	Layout string
	// Submodules says whether submodules are fetched; nil if it is not set.
	Submodules *bool
	// Vendor is the directory of vendored packages, relative to the root module, with
	// slashes; "" if it is not set.
	Vendor string
	// Platforms are additional platforms to lock providers for; nil if they are not set.
	Platforms []addrs.Platform
	// Mirrors are the mirrors that the file names. The user decides how far they are
	// trusted, see [Mirrors].
	Mirrors []Mirror
}

// Parse parses the settings in a file; the package comment describes the format. The name
// is used only in messages. A file without a settings block sets nothing. Other types of
// block that the file may have are ignored. If the diagnostics contain errors, the settings
// are nil.
func Parse(src []byte, filename string) (*Settings, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, failure(hcl.Range{Filename: filename}, fmt.Sprintf("The file has more than %d bytes.", MaxSize))
	}
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "settings"}, mirrorHeader}})
	if diags.HasErrors() {
		return nil, diags
	}
	s := &Settings{}
	blocks := content.Blocks.ByType()
	for i, block := range blocks["settings"] {
		if i > 0 {
			return nil, failure(block.DefRange, fmt.Sprintf("A file has only one settings block; the first is on line %d.", blocks["settings"][0].DefRange.Start.Line))
		}
		if diags := s.read(block.Body); diags.HasErrors() {
			return nil, diags
		}
	}
	s.Mirrors, diags = readMirrors(blocks[mirrorHeader.Type], false)
	if diags.HasErrors() {
		return nil, diags
	}
	return s, nil
}

func failure(at hcl.Range, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid settings", Detail: detail, Subject: &at}}
}

// read reads the arguments of a settings block.
func (s *Settings) read(body hcl.Body) hcl.Diagnostics {
	return readArguments(body, map[string]func(cty.Value) error{
		"for":        word(&s.For, "auto", "terraform", "tofu"),
		"layout":     word(&s.Layout, "copy", "link"),
		"lock_file":  s.setLockFile,
		"submodules": s.setSubmodules,
		"platforms":  s.setPlatforms,
		"vendor":     s.setVendor,
	})
}

// readArguments reads the arguments of a body with the functions for their values. Anything
// else in the body is an error.
func readArguments(body hcl.Body, arguments map[string]func(cty.Value) error) hcl.Diagnostics {
	schema := &hcl.BodySchema{}
	names := slices.Sorted(maps.Keys(arguments))
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	content, diags := body.Content(schema)
	for _, name := range names {
		attribute, given := content.Attributes[name]
		if !given {
			continue
		}
		value, problems := attribute.Expr.Value(nil)
		if !problems.HasErrors() {
			if err := arguments[name](value); err != nil {
				problems = failure(attribute.Expr.Range(), fmt.Sprintf("%s: %s.", name, err))
			}
		}
		diags = append(diags, problems...)
	}
	return diags
}

// word returns the function for an argument whose value is one of a few words.
func word(to *string, words ...string) func(cty.Value) error {
	return func(value cty.Value) error {
		text, err := stringOf(value)
		if err != nil || !slices.Contains(words, text) {
			return fmt.Errorf("it must be one of %q", words)
		}
		*to = text
		return nil
	}
}

func stringOf(value cty.Value) (string, error) {
	if value.IsNull() || value.Type() != cty.String {
		return "", errors.New("it must be a string")
	}
	return value.AsString(), nil
}

func (s *Settings) setLockFile(value cty.Value) (err error) {
	if s.LockFile, err = stringOf(value); err != nil {
		return err
	}
	if clean := filepath.Clean(filepath.FromSlash(s.LockFile)); !filepath.IsLocal(clean) || clean == "." {
		return errors.New("it must be a path below the root module's directory")
	}
	return notMetadata(s.LockFile)
}

// notMetadata returns an error if a path is in the metadata of version control, which a setting
// of a repository must not touch.
func notMetadata(name string) error {
	if part := pathsafe.VersionControlPart(name); part != "" {
		return fmt.Errorf("it must not be in %q, which belongs to version control", part)
	}
	return nil
}

func (s *Settings) setVendor(value cty.Value) (err error) {
	if s.Vendor, err = stringOf(value); err != nil {
		return err
	}
	if s.Vendor == "" || path.IsAbs(s.Vendor) || filepath.IsAbs(s.Vendor) {
		return errors.New("it must be a path relative to the root module's directory")
	}
	return notMetadata(s.Vendor)
}

func (s *Settings) setSubmodules(value cty.Value) error {
	if value.IsNull() || value.Type() != cty.Bool {
		return errors.New("it must be true or false")
	}
	on := value.True()
	s.Submodules = &on
	return nil
}

func (s *Settings) setPlatforms(value cty.Value) error {
	if value.IsNull() || !value.Type().IsTupleType() {
		return errors.New("it must be a list of platforms")
	}
	s.Platforms = []addrs.Platform{}
	for _, element := range value.AsValueSlice() {
		text, err := stringOf(element)
		if err != nil {
			return errors.New("each platform must be a string")
		}
		platform, err := addrs.ParsePlatform(text)
		if err != nil {
			return err
		}
		s.Platforms = append(s.Platforms, platform)
	}
	return nil
}
