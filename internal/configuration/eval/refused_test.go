package eval_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/eval"
)

// refusing refuses all files, except that "missing" does not exist.
type refusing struct{ files }

func refuse(name string) error {
	return &config.FileReadError{Path: name, Allowed: "/repo", Reason: "it is outside of /repo"}
}

func (r refusing) ReadFile(name string, limit int64) ([]byte, error) {
	if name == "missing" {
		return r.files.ReadFile(name, limit)
	}
	return nil, refuse(name)
}

func (r refusing) Stat(name string) (fs.FileInfo, error) {
	if name == "missing" {
		return nil, fs.ErrNotExist
	}
	return nil, refuse(name)
}

func (r refusing) ReadDir(name string, _ int) ([]fs.DirEntry, error) { return nil, refuse(name) }

// TestRefused calls functions for files that may not be read. The error has the name of the file,
// unless it is a secret, and no function hides it.
func TestRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // the name of the file in the error, or "" if there is no error
		`file("x")`:                                     "x",
		`core::file("x")`:                               "x",
		`"./${file(v.name)}"`:                           "net",
		`fileexists("x")`:                               "x",
		`templatefile("x", {})`:                         "x",
		`fileexists("x") ? file("x") : "y"`:             "x",
		`try(file("x"), "y")`:                           "x",
		`try(fileexists("x"), false)`:                   "x",
		`try(one(fileset("x", "*")), "y")`:              "x",
		`try(one(fileset(".", "x")), "y")`:              "x",
		`can(file("x")) ? "y" : "z"`:                    "x",
		`try(try(file("x"), "y"), "z")`:                 "x",
		`try(v.none, templatefile("x", {}), "y")`:       "x",
		`join("", [for f in ["x"] : try(file(f), "")])`: "x",
		`try("y", file("x"))`:                           "",
		`true ? "y" : file("x")`:                        "",
		`try(file("missing"), "y")`:                     "",
		`can(file("missing")) ? "y" : "z"`:              "",
		`fileexists("missing") ? file("x") : "y"`:       "",
	}
	for src, want := range tests {
		scope := scope()
		scope.Files = refusing{scope.Files.(files)}
		meter := eval.NewMeter(t.Context(), &eval.Tree{})
		_, diags := meter.Evaluate(parse(t, src), scope)
		if want == "" {
			if diags.HasErrors() {
				t.Errorf("%s: %v, want no error", src, diags)
			}
			continue
		}
		checkRefused(t, src, diags, &config.FileReadError{Path: want, Allowed: "/repo", Reason: "it is outside of /repo"})
		if value, diags := meter.Evaluate(parse(t, `try(v.none, "y")`), scope); diags.HasErrors() || !value.RawEquals(cty.StringVal("y")) {
			t.Errorf("after %s: %#v, %v, want y", src, value, diags)
		}
	}
	for _, src := range []string{`file(s.key)`, `try(file(s.key), "y")`, `fileexists("/tmp/${s.key}")`, `file(sensitive("CANARY"))`} {
		scope := scope()
		scope.Files = refusing{scope.Files.(files)}
		_, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope)
		checkRefused(t, src, diags, &config.FileReadError{Allowed: "/repo", Reason: "it is outside of /repo"})
		if strings.Contains(diags.Error(), "CANARY") {
			t.Errorf("%s: %v holds the secret", src, diags)
		}
	}
}

func checkRefused(t *testing.T, src string, diags hcl.Diagnostics, want *config.FileReadError) {
	t.Helper()
	if len(diags) != 1 {
		t.Errorf("%s: %v, want one error", src, diags)
		return
	}
	got, _ := hcl.DiagnosticExtra[*config.FileReadError](diags[0])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the refused file (-want +got):\n%s", src, diff)
	}
	if !strings.Contains(diags[0].Detail, want.Path) || !strings.Contains(diags[0].Detail, want.Reason) || diags[0].Subject == nil {
		t.Errorf("%s: %v, want the file, the reason and the place", src, diags[0])
	}
}
