package cotter

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
)

// EditError is a source address that cannot be edited.
type EditError struct {
	// Pin is what it has, and Reason says why it stays.
	Pin    Pin
	Reason string
}

func (e *EditError) Error() string { return e.Reason }

// EditPins writes the newest tags of outdated pins into the configuration of a request,
// in the place of the tags that they have. Nothing else in the files changes. If one of
// them cannot be edited, none is, and the error is a *ModuleError over *[EditError].
// Installing what the configuration has then is up to the caller.
func EditPins(req Request, pins []Pin) error {
	files := make(map[string][]Pin)
	for _, pin := range pins {
		file := pin.Call.SourceRange.Filename
		if !pin.Outdated() || slices.ContainsFunc(files[file], pin.samePlace) {
			continue // a module that several calls have is one file
		}
		files[file] = append(files[file], pin)
	}
	edited := make(map[string][]byte)
	read := make(map[string][]byte)
	for file, pins := range files {
		src, err := os.ReadFile(filepath.Join(req.dir(), filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		if edited[file], err = splice(src, pins); err != nil {
			return err
		}
		read[file] = src
	}
	for _, file := range slices.Sorted(maps.Keys(edited)) {
		name := filepath.Join(req.dir(), filepath.FromSlash(file))
		if err := atomicfile.WriteFile(name, edited[file], atomicfile.Options{Swap: true, Old: read[file]}); err != nil {
			return err
		}
	}
	return nil
}

func (p Pin) samePlace(other Pin) bool {
	return p.Call.SourceRange.Start.Byte == other.Call.SourceRange.Start.Byte
}

// splice replaces the addresses of pins in a file, the last one first.
func splice(src []byte, pins []Pin) ([]byte, error) {
	slices.SortFunc(pins, func(a, b Pin) int { return cmp.Compare(b.Call.SourceRange.Start.Byte, a.Call.SourceRange.Start.Byte) })
	src = slices.Clone(src)
	for _, pin := range pins {
		rng := pin.Call.SourceRange
		fail := func(reason string) error {
			return &ModuleError{Path: pin.Path, Source: addrs.Redact(pin.Call.Source), Range: rng, Err: &EditError{pin, reason}}
		}
		start, end := rng.Start.Byte, rng.End.Byte
		switch {
		case pin.literal == "":
			return nil, fail("the source is computed by an expression, so it cannot be edited")
		case start < 0 || end > len(src) || start > end || string(src[start:end]) != pin.literal:
			return nil, fail("the source is not written as a plain string, so it cannot be edited")
		}
		address, ok := addrs.ReplaceArg(pin.literal[1:len(pin.literal)-1], pin.Argument, pin.LatestTag)
		if !ok {
			return nil, fail(fmt.Sprintf("the source does not have the argument %q once, so it cannot be edited", pin.Argument))
		}
		src = slices.Replace(src, start, end, []byte(`"`+address+`"`)...)
	}
	return src, nil
}
