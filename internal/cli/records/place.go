package records

import (
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/hashicorp/hcl/v2"
)

// Place is a place in the configuration.
type Place struct {
	File textform.Path `json:"file,omitempty"`
	Line int           `json:"line,omitempty"`
}

// PlaceOf is where a range begins.
func PlaceOf(at hcl.Range) Place { return Place{File: textform.Path(at.Filename), Line: at.Start.Line} }

// Files are the files that differ, as far as they are known.
type Files struct {
	Changed  []textform.Path `json:"changed,omitempty"`
	Vanished []textform.Path `json:"vanished,omitempty"`
	Added    []textform.Path `json:"added,omitempty"`
}

// FilesOf returns the record of changed files.
func FilesOf(c hashing.Changes) Files {
	return Files{Changed: textform.Paths(c.Changed), Vanished: textform.Paths(c.Vanished), Added: textform.Paths(c.Added)}
}

// ErrorText returns "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
