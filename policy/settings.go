package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// Settings are the settings of a project; "" and nil are not set.
type Settings struct {
	// For is the stock tool: "tofu", "terraform" or "auto".
	For string
	// LockFile is the path of the lock, relative to the root module.
	LockFile string
	// Layout is "link" or "copy".
	Layout     string
	Submodules *bool
	// TestDirectory is the directory of the root module's tests, relative to it.
	TestDirectory string
	// Platforms are additional platforms to lock providers for.
	Platforms []addrs.Platform
	// Exclude are patterns, in the syntax of .gitignore, for the directories that a search for root modules leaves out.
	Exclude []string
	// Mirrors are the mirrors that the file names. See [Mirrors] for how far they are trusted.
	Mirrors []Mirror
}

// ParseSettings parses the settings in a file. The name is used only in messages. Other types of block are
// ignored. The settings are nil if there are errors.
func ParseSettings(src []byte, filename string) (*Settings, hcl.Diagnostics) {
	blocks, _, diags := settingsPart.read(src, filename, hcl.BlockHeaderSchema{Type: "settings"}, mirrorHeader)
	if diags.HasErrors() {
		return nil, diags
	}
	s := &Settings{}
	if _, diags = settingsPart.readBlock(blocks.OfType("settings"), s.arguments()); diags.HasErrors() {
		return nil, diags
	}
	if s.Mirrors, diags = readMirrors(blocks.OfType(mirrorHeader.Type)); diags.HasErrors() {
		return nil, diags
	}
	return s, nil
}

func parseExclude(text string) (string, error) {
	if strings.Trim(text, "/") == "" || strings.HasPrefix(text, "!") || strings.HasPrefix(text, "#") || strings.ContainsAny(text, "\x00\n") {
		return "", fmt.Errorf("%q is not a pattern for directories, such as \"templates/\"", text)
	}
	return text, nil
}

func (s *Settings) arguments() arguments {
	return arguments{
		"exclude":        list(&s.Exclude, 0, "patterns", parsed("pattern", parseExclude)),
		"for":            choice(&s.For, words("auto", "terraform", "tofu")),
		"layout":         choice(&s.Layout, words("copy", "link")),
		"lock_file":      pathBelow(&s.LockFile),
		"submodules":     func(value cty.Value) error { s.Submodules = new(bool); return boolean(s.Submodules)(value) },
		"test_directory": pathBelow(&s.TestDirectory),
		"platforms":      list(&s.Platforms, 0, "platforms", parsed("platform", addrs.ParsePlatform)),
		"vendor":         func(cty.Value) error { return errNoVendor },
	}
}

// errNoVendor says what to use instead of the vendor directories that people know from other tools.
var errNoVendor = errors.New("packages are not written into the repository: use a bundle or a mirror for machines without network, and a replace block for a module in a directory of the repository")

// words returns a choice whose values are the words themselves.
func words(all ...string) map[string]string {
	values := make(map[string]string)
	for _, word := range all {
		values[word] = word
	}
	return values
}

func pathBelow(to *string) func(cty.Value) error {
	return func(value cty.Value) (err error) {
		if *to, err = stringOf(value); err != nil {
			return err
		}
		if clean := filepath.Clean(filepath.FromSlash(*to)); !filepath.IsLocal(clean) || clean == "." {
			return errors.New("it must be a path below the root module's directory")
		}
		return notMetadata(*to)
	}
}

// notMetadata refuses paths in the metadata of version control, which a repository must not set.
func notMetadata(name string) error {
	if part := pathsafe.VersionControlPart(name); part != "" {
		return fmt.Errorf("it must not be in %q, which belongs to version control", part)
	}
	return nil
}
