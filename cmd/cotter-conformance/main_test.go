package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cotterpin/cotter/conformance"
	"github.com/cotterpin/cotter/internal/testenv"
)

const kit = "../../conformance/testdata"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cotter-conformance": main})
}

// ours runs the reference implementation in this process.
func ours(_ context.Context, verb, path string, stdin []byte) ([]byte, int, error) {
	var stdout, stderr bytes.Buffer
	status := reference([]string{verb, path}, bytes.NewReader(stdin), &stdout, &stderr)
	return stdout.Bytes(), status, nil
}

// TestReference runs the conformance cases on our own packages.
func TestReference(t *testing.T) {
	t.Parallel()
	cases, err := readKit(conformance.Kit())
	testenv.Must(t, err)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := check(t.Context(), c, ours); errors.Is(err, errSkipped) {
				t.Skip(err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCheckFindsFaults runs programs that do everything wrong; no case may pass.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	cases, err := readKit(conformance.Kit())
	testenv.Must(t, err)
	for name, wrong := range map[string]program{
		"other hashes": func(context.Context, string, string, []byte) ([]byte, int, error) {
			return []byte("h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), 0, nil
		},
		"an unknown scheme": func(context.Context, string, string, []byte) ([]byte, int, error) {
			return []byte("x1:abc"), 0, nil
		},
		"no output": func(_ context.Context, _, path string, _ []byte) ([]byte, int, error) {
			return nil, 0, appendFile(path)
		},
		"other JSON": func(_ context.Context, _, path string, _ []byte) ([]byte, int, error) {
			return []byte(`{"modules":[]}`), 0, appendFile(path)
		},
	} {
		for _, c := range cases {
			if name == "an unknown scheme" && c.verb != "hash" || name == "other hashes" && (c.verb == "edit" || c.verb == "select") {
				continue // these cases leave the lock unchanged
			}
			if err := check(t.Context(), c, wrong); err == nil {
				t.Errorf("%s: %s passes", name, c.name)
			}
		}
	}
	failing := func(context.Context, string, string, []byte) ([]byte, int, error) { return nil, 1, nil }
	for _, c := range cases {
		if err := check(t.Context(), c, failing); (err == nil) != c.refused {
			t.Errorf("%s: a program that fails: %v", c.name, err)
		}
	}
}

// appendFile appends a line to a lock.
func appendFile(path string) error {
	if filepath.Base(path) != ".terraform.lock.hcl" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, "# more\n"...), 0o644)
}

// TestProcess runs the program as users do, with itself as the program under test.
func TestProcess(t *testing.T) {
	t.Parallel()
	// These cases start processes. Running all cases would take a second.
	small := t.TempDir()
	for _, folder := range []string{"trees", "refused-trees", "locks", "edits", "selections"} {
		names, err := filepath.Glob(filepath.Join(kit, folder, "*.txtar"))
		if err != nil || len(names) == 0 {
			t.Fatal(err, names)
		}
		copyFile(t, names[0], filepath.Join(small, folder, filepath.Base(names[0])))
	}
	for name, text := range map[string]string{"invalid-locks": "module {\n", "refused-provider-locks": "other {\n}\n"} {
		testenv.Must(t, os.WriteFile(filepath.Join(small, name+".txtar"), []byte("-- a.hcl --\n"+text), 0o644))
	}
	for _, test := range []struct {
		line   string
		status int
		want   string
	}{
		{"-kit " + small + " cotter-conformance reference", 0, "7 passed, 0 failed, 0 skipped\n"},
		{"-kit " + small + " cotter-conformance", 1, "3 passed, 4 failed, 0 skipped\n"},
		{"-kit " + small + " cotter-conformance reference other", 1, "3 passed, 4 failed, 0 skipped\n"},
		{"-kit " + small + " nowhere/program", 1, "0 passed, 7 failed, 0 skipped\n"},
		{"-kit " + t.TempDir() + " x", 1, ""},
		{"", 2, ""},
		{"-x", 2, ""},
		{"reference other path", 3, ""},
	} {
		var stdout, stderr strings.Builder
		status := run(t.Context(), strings.Fields(test.line), strings.NewReader(""), &stdout, &stderr)
		if status != test.status || !strings.HasSuffix(stdout.String(), test.want) {
			t.Errorf("cotter-conformance %s: status %d, prints\n%s%s", test.line, status, &stdout, &stderr)
		}
	}
}

// TestServer checks servers as users do.
func TestServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	address := strings.Replace(server.URL, "http", "oci", 1) + "/acme/net"
	for _, test := range []struct {
		line   string
		status int
		want   []string // in the output
	}{
		{"oci " + address, 1, []string{
			"oci.tags.status: the status is 404\n    request: GET " + server.URL + "/v2/acme/net/tags/list\n    rule:    the list of tags has status 200\n",
			address + ": 4 rules checked, 1 violations\n",
		}},
		{"oci -json " + address, 1, []string{
			`"rule": "oci.tags.status"`, `"server": "` + address + `"`,
		}},
		{"module 127.0.0.1:1/acme/net/aws", 1, []string{"discovery.answer: there is no answer: "}},
		{"provider 127.0.0.1:1/acme/cloud", 1, []string{"discovery.answer: there is no answer: "}},
		{"module ./net", 2, nil},
		{"provider a/b/c/d", 2, nil},
		{"oci https://127.0.0.1:1/acme/net", 2, nil},
		{"oci", 2, nil},
		{"module -x", 2, nil},
		{"rules", 0, []string{"\n  modules.versions.unique          each version is listed once\n"}},
	} {
		var stdout, stderr strings.Builder
		status := run(t.Context(), strings.Fields(test.line), strings.NewReader(""), &stdout, &stderr)
		missing := slices.ContainsFunc(test.want, func(want string) bool { return !strings.Contains(stdout.String(), want) })
		if status != test.status || missing {
			t.Errorf("cotter-conformance %s: status %d, prints\n%s%s", test.line, status, &stdout, &stderr)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	testenv.Must(t, err)
	testenv.Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	testenv.Must(t, os.WriteFile(to, text, 0o644))
}
