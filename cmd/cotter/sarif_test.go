package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// checkSARIF compares a document with testdata/sarif.json. If COTTER_TEST_SARIF_SCHEMA names
// a copy of the standard's schema, it also validates the document. The schema is not
// included because of its license.
func checkSARIF(text string) error {
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	schemas := []string{"testdata/sarif.json"}
	if standard := os.Getenv("COTTER_TEST_SARIF_SCHEMA"); standard != "" {
		schemas = append(schemas, standard)
	}
	for _, name := range schemas {
		schema, err := readSchema(name)
		if err != nil {
			return err
		}
		if err := schema.Validate(document); err != nil {
			return err
		}
	}
	return checkURIs(text)
}

// checkURIs checks the properties of a log for which the schema defines a format. The
// validator ignores formats.
func checkURIs(text string) error {
	var log sarifLog
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		return err
	}
	for _, r := range log.Runs {
		for _, absolute := range []string{log.Schema, r.Tool.Driver.InformationURI} {
			if at, err := url.Parse(absolute); err != nil || !at.IsAbs() {
				return fmt.Errorf("%q is not a URI", absolute)
			}
		}
		for _, result := range r.Results {
			for _, at := range result.Locations {
				if _, err := url.Parse(at.Physical.Artifact.URI); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readSchema reads a JSON schema.
func readSchema(name string) (*jsonschema.Resolved, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(text, schema); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return schema.Resolve(nil)
}

// validSARIF implements the script command that checks a file.
func validSARIF(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: sarif file")
	}
	text := ts.ReadFile(args[0])
	ts.Check(checkSARIF(text))
	var log sarifLog
	ts.Check(json.Unmarshal([]byte(text), &log))
	for _, r := range log.Runs[0].Results {
		if rule := log.Runs[0].Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID {
			ts.Fatalf("the rule of %q has the index of %q", r.RuleID, rule.ID)
		}
	}
}

// TestSARIFSchema checks that faulty documents are rejected.
func TestSARIFSchema(t *testing.T) {
	t.Parallel()
	name := t.TempDir() + "/found.sarif"
	result := func(change func(*sarifResult)) []sarifResult {
		f := &sarifReport{root: t.TempDir()}
		f.add(&scannedProject{dir: "envs/dev"}, "stale", "module", "a", "text", position{"main tf:1.tf", 7})
		change(&f.results[0])
		return f.results
	}
	for _, test := range []struct {
		name   string
		change func(*sarifResult)
		valid  bool
	}{
		{"as it is", func(*sarifResult) {}, true},
		{"no text", func(r *sarifResult) { r.Message.Text = "" }, false},
		{"level", func(r *sarifResult) { r.Level = "fatal" }, false},
		{"no location", func(r *sarifResult) { r.Locations = nil }, false},
		{"line 0", func(r *sarifResult) { r.Locations[0].Physical.Region.StartLine = 0 }, false},
		{"not a URI", func(r *sarifResult) { r.Locations[0].Physical.Artifact.URI = "a%zz.tf" }, false},
		{"absolute", func(r *sarifResult) { r.Locations[0].Physical.Artifact.URI = "/etc/passwd" }, false},
	} {
		if err := writeSARIF(name, result(test.change), nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkSARIF(string(text)); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestSARIFURI(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"envs/dev/main.tf": "envs/dev/main.tf",
		"a b/ü#?.tf":       "a%20b/%C3%BC%23%3F.tf",
		"a:b/main.tf":      "./a:b/main.tf",
	} {
		if got := sarifURI(path); got != want {
			t.Errorf("sarifURI(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestRules checks that the ids and names of the rules are unique.
func TestRules(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.id, r.name)
	}
	slices.Sort(ids)
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
		t.Errorf("ids and names of rules: %q", ids)
	}
}
