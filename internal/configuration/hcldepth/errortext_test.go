package hcldepth_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

func TestErrorText(t *testing.T) {
	t.Parallel()
	at := func(line int) *hcl.Range {
		return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line, Column: 5}, End: hcl.Pos{Line: line, Column: 8}}
	}
	oneError := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Missing name", Detail: "It has none.", Subject: at(3)}
	another := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable directory"}
	warning := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Old syntax", Subject: at(9)}
	for _, tt := range []struct {
		name  string
		diags hcl.Diagnostics
		want  string
	}{
		{"none", nil, "no diagnostics"},
		{"one", hcl.Diagnostics{oneError}, "main.tf:3,5-8: Missing name; It has none."},
		{"all errors and no warnings", hcl.Diagnostics{oneError, warning, another}, "main.tf:3,5-8: Missing name; It has none.\nUnreadable directory"},
		{"only warnings", hcl.Diagnostics{warning}, "main.tf:9,5-8: Old syntax"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, hcldepth.ErrorText(tt.diags)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorOf(t *testing.T) {
	t.Parallel()
	warning := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Old syntax"}
	if err := hcldepth.ErrorOf(hcl.Diagnostics{warning}); err != nil {
		t.Errorf("a warning is the error %v", err)
	}
	cause := &fs.PathError{Op: "open", Path: "main.tf", Err: fs.ErrNotExist}
	unreadable := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable file", Extra: fmt.Errorf("reading: %w", cause)}
	err := hcldepth.ErrorOf(hcl.Diagnostics{warning, unreadable})
	diags, isDiags := errors.AsType[hcl.Diagnostics](err)
	if !isDiags || len(diags) != 2 {
		t.Errorf("the error wraps %v, want both diagnostics", diags)
	}
	if found, ok := errors.AsType[*fs.PathError](err); !ok || found != cause || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error in the Extra of a diagnostic is not found in %v", err)
	}
}
