package edit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
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
	Range    hcl.Range
	Old, New string
}

// Error says that a value cannot be edited.
type Error struct {
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

// Changes are new values for strings in a configuration.
type Changes struct {
	// Pins are calls whose tags and constraints are replaced. Those that are not outdated, or have no
	// LatestValue, are ignored.
	Pins        []installer.Pin
	Constraints []Constraint
}

// Constraint is a new version constraint for a module call or a provider requirement.
type Constraint struct {
	// Range is the place of the old constraint: VersionRange of a config.Call, or
	// ConstraintRange of a [installer.ProviderRequirement].
	Range    hcl.Range
	Old, New string
}

// Files returns the files that change, sorted by name, for the root module in dir. All changes are
// made at once, because the places of values move when a file is written. If a value cannot be
// replaced, no longer is what was read, or is to become two different ones, or if a new constraint is
// not one, the error is an *[Error]; for a pin, it is a *[installer.ModuleError] that wraps an *[Error].
func Files(ctx context.Context, dir string, changes Changes) ([]File, error) {
	byFile := make(map[string][]replacement)
	add := func(r replacement) error {
		if r.at.Filename == "" {
			return r.fail("there is no string to edit")
		}
		byFile[r.at.Filename] = append(byFile[r.at.Filename], r)
		return nil
	}
	for _, pin := range changes.Pins {
		if pin.Outdated() && pin.LatestValue != "" {
			if err := add(replacement{at: pin.Range, pin: &pin}); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range changes.Constraints {
		if err := add(replacement{at: c.Range, constraint: c}); err != nil {
			return nil, err
		}
	}
	var files []File
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		if err := ctxerr.Of(ctx); err != nil {
			return nil, err
		}
		src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		file := File{Name: name, Old: src}
		if err := file.splice(byFile[name]); err != nil {
			return nil, err
		}
		if len(file.Edits) > 0 {
			files = append(files, file)
		}
	}
	return files, nil
}

// replacement replaces the string at a place: that of a pin, or a constraint.
type replacement struct {
	at         hcl.Range
	pin        *installer.Pin // nil for a constraint
	constraint Constraint
}

func (r replacement) inSource() bool { return r.pin != nil && r.at == r.pin.Call.SourceRange }

func (r replacement) what() string {
	if r.inSource() {
		return "source"
	}
	return "constraint"
}

func (r replacement) fail(reason string) error {
	if r.pin != nil {
		return &installer.ModuleError{Path: r.pin.Path, Source: addrs.Redact(r.pin.Call.Source), Range: r.at, Err: &Error{Reason: reason}}
	}
	return &Error{r.at, reason}
}

func (r replacement) value(old string) (string, error) {
	if r.inSource() {
		if old != r.pin.Call.Source && addrs.Redact(old) != r.pin.Call.Source {
			return "", r.fail("the file has another source than was read from it")
		}
		address, ok := addrs.ReplaceArg(old, r.pin.Argument, r.pin.LatestValue)
		if !ok {
			return "", r.fail(fmt.Sprintf("the source does not have the argument %q exactly once, so it cannot be edited", r.pin.Argument))
		}
		return address, nil
	}
	if r.pin != nil {
		r.constraint = Constraint{Old: r.pin.Value, New: r.pin.LatestValue}
	}
	if old != r.constraint.Old {
		return "", r.fail("the file has another constraint than was read from it")
	}
	_, ofModule := versions.ParseConstraints(r.constraint.New)
	_, ofProvider := versions.ParseProviderConstraints(r.constraint.New)
	if !isPlain(r.constraint.New) || ofModule != nil && ofProvider != nil {
		return "", r.fail(fmt.Sprintf("%q is not a version constraint", r.constraint.New))
	}
	return r.constraint.New, nil
}

// splice computes the edits and the new content of a file. Several calls of a module read the same
// file, so a replacement may occur more than once.
func (f *File) splice(all []replacement) error {
	slices.SortStableFunc(all, func(a, b replacement) int { return cmp.Compare(a.at.Start.Byte, b.at.Start.Byte) })
	var text bytes.Buffer
	end, last := 0, Edit{}
	for _, r := range all {
		old, ok := f.literal(r.at)
		if r.pin != nil && (r.inSource() && r.pin.Call.SourceComputed || !r.inSource() && r.pin.Call.VersionComputed) {
			return r.fail("the " + r.what() + " is computed by an expression, so it cannot be edited")
		}
		if !ok {
			return r.fail("the " + r.what() + " is not written as a plain string, so it cannot be edited")
		}
		value, err := r.value(old)
		switch {
		case err != nil:
			return err
		case r.at == last.Range && value == last.New || value == old:
			continue
		case r.at.Start.Byte < end:
			return r.fail("the " + r.what() + " is to become two different ones")
		}
		text.Write(f.Old[end:r.at.Start.Byte])
		text.WriteString(`"` + value + `"`)
		end = r.at.End.Byte
		last = Edit{Range: r.at, Old: old, New: value}
		f.Edits = append(f.Edits, last)
	}
	text.Write(f.Old[end:])
	f.New = text.Bytes()
	return nil
}

// literal returns the value of the literal string at a place.
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
