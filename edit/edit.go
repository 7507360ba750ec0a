package edit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// File is a configuration file with its new content.
type File struct {
	// Name is the path of the file, relative to the root module's directory, with slashes.
	Name string
	// Old is the content that was read, and New the content with the edits. A program that
	// writes New should check that the file still has the content Old.
	Old, New []byte
	// Edits are the changes, in the order of their places.
	Edits []Edit
}

// Edit is the change of one literal string.
type Edit struct {
	// Range is the place of the string in the old content, with its quotation marks.
	Range hcl.Range
	// Old and New are the values of the string.
	Old, New string
}

// Error says that a value cannot be edited.
type Error struct {
	// Range is the place of the value.
	Range hcl.Range
	// Reason says why, as a sentence without a capital letter and a full stop.
	Reason string
}

func (e *Error) Error() string {
	if e.Range.Filename == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.Range.Filename, e.Range.Start.Line, e.Reason)
}

// Pins replaces the tags of outdated pins with the newest tags, in the configuration of the root
// module in dir. Other pins are ignored. If one of the tags cannot be replaced, the error is a
// *[cotter.ModuleError] that wraps an *[Error]. The files are sorted by name.
func Pins(ctx context.Context, dir string, pins []cotter.Pin) ([]File, error) {
	var all []replacement
	for _, pin := range pins {
		if pin.Outdated() {
			all = append(all, replacement{pin.Call.SourceRange, func(old string) (string, error) { return replaceTag(pin, old) }})
		}
	}
	files, err := apply(ctx, dir, all)
	if refused, ok := errors.AsType[*Error](err); ok {
		i := slices.IndexFunc(pins, func(p cotter.Pin) bool { return p.Outdated() && p.Call.SourceRange == refused.Range })
		return nil, &cotter.ModuleError{Path: pins[i].Path, Source: addrs.Redact(pins[i].Call.Source), Range: refused.Range, Err: &Error{Reason: refused.Reason}}
	}
	return files, err
}

// replaceTag returns the source address of a pin with the newest tag.
func replaceTag(pin cotter.Pin, old string) (string, error) {
	switch {
	case pin.Call.SourceComputed:
		return "", &Error{pin.Call.SourceRange, "the source is computed by an expression, so it cannot be edited"}
	case old != pin.Call.Source && addrs.Redact(old) != pin.Call.Source:
		return "", &Error{pin.Call.SourceRange, "the source is not written as a plain string, so it cannot be edited"}
	}
	address, ok := addrs.ReplaceArg(old, pin.Argument, pin.LatestTag)
	if !ok {
		return "", &Error{pin.Call.SourceRange, fmt.Sprintf("the source does not have the argument %q exactly once, so it cannot be edited", pin.Argument)}
	}
	return address, nil
}

// Constraint is a new version constraint for a module call or a provider requirement.
type Constraint struct {
	// Range is the place of the old constraint: VersionRange of a config.Call, or
	// ConstraintRange of a [cotter.ProviderRequirement].
	Range hcl.Range
	// Old is the old constraint as it was read, and New the new one.
	Old, New string
}

// Constraints replaces version constraints in the configuration of the root module in dir. If one
// of them cannot be replaced, or a new one is not a constraint, the error is an *[Error]. The files
// are sorted by name.
func Constraints(ctx context.Context, dir string, changes ...Constraint) ([]File, error) {
	var all []replacement
	for _, c := range changes {
		all = append(all, replacement{c.Range, c.replace})
	}
	return apply(ctx, dir, all)
}

func (c Constraint) replace(old string) (string, error) {
	_, ofModule := versions.ParseConstraints(c.New)
	_, ofProvider := versions.ParseProviderConstraints(c.New)
	switch {
	case old != c.Old:
		return "", &Error{c.Range, "the constraint is not written as a plain string, so it cannot be edited"}
	case !isPlain(c.New) || ofModule != nil && ofProvider != nil:
		return "", &Error{c.Range, fmt.Sprintf("%q is not a version constraint", c.New)}
	}
	return c.New, nil
}

// replacement replaces the string at a place.
type replacement struct {
	at hcl.Range
	// new returns the new value for the old one.
	new func(old string) (string, error)
}

// apply reads the files of replacements and replaces the strings. A replacement at the same place
// as an earlier one is ignored, because several calls of a module read the same file.
func apply(ctx context.Context, dir string, all []replacement) ([]File, error) {
	byFile := make(map[string][]replacement)
	for _, r := range all {
		same := func(other replacement) bool { return other.at.Start.Byte == r.at.Start.Byte }
		if name := r.at.Filename; name == "" {
			return nil, &Error{r.at, "there is no string to edit"}
		} else if !slices.ContainsFunc(byFile[name], same) {
			byFile[name] = append(byFile[name], r)
		}
	}
	var files []File
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
		src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		file := File{Name: name, Old: src}
		if err := file.splice(byFile[name]); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// splice computes the edits and the new content of a file.
func (f *File) splice(all []replacement) error {
	slices.SortFunc(all, func(a, b replacement) int { return cmp.Compare(a.at.Start.Byte, b.at.Start.Byte) })
	var text bytes.Buffer
	end := 0
	for _, r := range all {
		old, ok := f.literal(r.at)
		if !ok || r.at.Start.Byte < end {
			old = "" // the replacement says what is wrong
		}
		value, err := r.new(old)
		if err != nil {
			return err
		}
		if !ok || r.at.Start.Byte < end {
			return &Error{r.at, "the value is not written as a plain string, so it cannot be edited"}
		}
		text.Write(f.Old[end:r.at.Start.Byte])
		text.WriteString(`"` + value + `"`)
		end = r.at.End.Byte
		f.Edits = append(f.Edits, Edit{Range: r.at, Old: old, New: value})
	}
	text.Write(f.Old[end:])
	f.New = text.Bytes()
	return nil
}

// literal returns the value of the literal string at a place, without its quotation marks.
func (f *File) literal(at hcl.Range) (string, bool) {
	start, end := at.Start.Byte, at.End.Byte
	if start < 0 || end > len(f.Old) || end-start < 2 || f.Old[start] != '"' || f.Old[end-1] != '"' {
		return "", false
	}
	value := string(f.Old[start+1 : end-1])
	return value, isPlain(value)
}

// isPlain reports whether a string means itself between quotation marks, in HCL and in JSON.
func isPlain(s string) bool {
	isSpecial := func(r rune) bool { return r == '"' || r == '\\' || r < ' ' }
	return !strings.ContainsFunc(s, isSpecial) && !strings.Contains(s, "${") && !strings.Contains(s, "%{")
}
