package policy

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Replacements are the replace blocks of a project. The zero value and nil replace nothing.
type Replacements struct{ blocks []*Replacement }

// Replacement is a replace block: modules of one address, or of all below it, come from another one.
type Replacement struct {
	// Of is HOST/PATH, or HOST/PATH/* for all addresses below it.
	Of string
	// Source is the source address that modules come from, with a "*" for the rest of a path below Of. A
	// directory is relative to that of the file, or after [Replacements.InDir] to the root module.
	Source string
	// Version is the version constraint for Source; "" if the block has none.
	Version string
	// Range is the header of the block.
	Range hcl.Range

	of    Pattern
	below bool
}

var replaceHeader = hcl.BlockHeaderSchema{Type: "replace", LabelNames: []string{"address"}}

// ParseReplacements parses the replace blocks in a file; docs/develop.md describes them. The name is used
// only in messages. Other types of blocks are ignored. The result is nil if there are errors.
func ParseReplacements(src []byte, filename string) (*Replacements, hcl.Diagnostics) {
	blocks, _, diags := replacePart.read(src, filename, replaceHeader)
	if diags.HasErrors() {
		return nil, diags
	}
	r := &Replacements{}
	for _, block := range blocks {
		by, problems := readReplacement(block)
		for _, other := range r.blocks {
			if !problems.HasErrors() && other.of.at.String() == by.of.at.String() && other.below == by.below {
				problems = replacePart.failure(block.LabelRanges[0], "An address has only one block; the first one of %s is on line %d.", by.Of, other.Range.Start.Line)
			}
		}
		diags = append(diags, problems...)
		r.blocks = append(r.blocks, by)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	// The longest address decides: that of a block for one address, if there is one.
	slices.SortStableFunc(r.blocks, func(a, b *Replacement) int { return len(b.of.at.path) - len(a.of.at.path) })
	return r, nil
}

func readReplacement(block *hcl.Block) (*Replacement, hcl.Diagnostics) {
	by := &Replacement{Of: block.Labels[0], Range: block.DefRange}
	address, below := strings.CutSuffix(by.Of, "/*")
	var err error
	by.below = below
	if by.of, err = ParsePattern(address); err == nil && (strings.Contains(address, "*") || by.of.at.host == "") {
		err = fmt.Errorf("%q is not HOST/PATH, or HOST/PATH/* for all addresses below it", by.Of)
	}
	if err != nil {
		return by, replacePart.failure(block.LabelRanges[0], "replace: %s.", err)
	}
	_, diags := replacePart.readArguments(block.Body, arguments{"source": by.setSource, "version": by.setVersion})
	if by.Source == "" && !diags.HasErrors() {
		diags = replacePart.failure(block.DefRange, "replace %q has no source.", by.Of)
	}
	if by.Version != "" && isDirectory(by.Source) {
		diags = append(diags, replacePart.failure(block.DefRange, "replace %q: a directory has no versions; remove the argument version.", by.Of)...)
	}
	return by, diags
}

func (by *Replacement) setSource(value cty.Value) (err error) {
	if by.Source, err = stringOf(value); err != nil {
		return err
	}
	before, after, found := strings.Cut(by.Source, "*")
	switch {
	case !by.below && found:
		return errors.New(`it has a "*", but the block is for one address`)
	case !by.below:
		return checkSource(by.Source)
	case !found || strings.Contains(after, "*"):
		return errors.New(`it must have one "*", which stands for the rest of the address`)
	}
	// Otherwise the replaced address, which may be in a package, would decide about the host.
	if _, host, ok := strings.Cut(before, "://"); ok {
		before = host
	}
	if !strings.Contains(before, "/") || strings.Contains(before, "?") {
		return errors.New(`its "*" must be in the path`)
	}
	return nil
}

func checkSource(address string) error {
	if isDirectory(address) {
		return nil
	}
	source, err := addrs.ParseModuleSource(address)
	if err != nil {
		return err
	}
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		if pkg, _ := addrs.SplitSubdir(address); strings.Count(pkg, "/") < 3 {
			return fmt.Errorf("%q is the address of a registry's module without the host", address)
		}
	case addrs.ModuleSourceRemote:
		if source.Package.HoldsCredentials() {
			return errors.New("it must not contain credentials")
		}
		if source.Package.Getter() == "file" {
			return fmt.Errorf("%q is not a path; write the path of the directory", address)
		}
	}
	return nil
}

func isDirectory(address string) bool {
	return strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") || filepath.IsAbs(address)
}

func (by *Replacement) setVersion(value cty.Value) (err error) {
	if by.Version, err = stringOf(value); err == nil {
		_, err = versions.ParseConstraints(by.Version)
	}
	return err
}

// IsZero reports whether there are no blocks.
func (r *Replacements) IsZero() bool { return r == nil || len(r.blocks) == 0 }

// InDir makes directories in the blocks relative to a root module. root, and dir of the file, are real
// paths.
func (r *Replacements) InDir(root, dir string) error {
	for _, by := range r.blocks {
		if !isDirectory(by.Source) {
			continue
		}
		target := by.Source
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		relative, err := filepath.Rel(root, target)
		if err != nil {
			return err
		}
		local, err := addrs.ParseModuleSource("./" + filepath.ToSlash(relative))
		if err != nil {
			return err
		}
		by.Source = local.String()
	}
	return nil
}

// Directories returns the directories that replace packages, and those below which others do.
func (r *Replacements) Directories() (all, above []string) {
	if r.IsZero() {
		return nil, nil
	}
	for _, by := range r.blocks {
		before, _, _ := strings.Cut(by.Source, "*")
		switch {
		case !isDirectory(by.Source):
		case by.below:
			above = append(above, path.Dir(before))
		default:
			all = append(all, by.Source)
		}
	}
	return all, above
}

// plainElement matches what may stand for the "*" of a source, because it means the same in every kind of
// address, and in the names of directories.
var plainElement = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$`)

// Find returns the block that replaces a source address, and the address that replaces it, without
// directory and arguments. The block is nil if the address is not replaced. Local paths are never replaced.
func (r *Replacements) Find(source addrs.ModuleSource) (by *Replacement, address string, err error) {
	if r.IsZero() {
		return nil, "", nil
	}
	var at location
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		at = registryLocation(source.Package)
	case addrs.ModuleSourceRemote:
		found, err := source.Package.Location()
		if err != nil {
			return nil, "", nil //nolint:nilerr // it has no place that a block could name
		}
		at = readLocations(found)[0]
	default:
		return nil, "", nil
	}
	for _, by := range r.blocks {
		rest := len(at.path) - len(by.of.at.path)
		if rest < 0 || by.below != (rest > 0) || !by.of.allows(at) {
			continue
		}
		if !by.below {
			return by, by.Source, nil
		}
		elements := at.path[len(at.path)-rest:]
		for _, element := range elements {
			if !plainElement.MatchString(element) {
				return by, "", fmt.Errorf("replace %q: the element %q of the path cannot be a part of another address", by.Of, element)
			}
		}
		address = strings.Replace(by.Source, "*", strings.Join(elements, "/"), 1)
		if err := checkSource(address); err != nil {
			return by, "", fmt.Errorf("replace %q: %w", by.Of, err)
		}
		return by, address, nil
	}
	return nil, "", nil
}
