package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// tofu stops at a configuration that is not compatible with its version, so an installation says that
// before. A tofu that does not say its version is no reason for a warning.
func TestIncompatibleTofu(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for tofu is a shell script")
	}
	bin, world := t.TempDir(), modtest.New(t, fstest.MapFS{})
	for _, test := range []struct{ needs, says, want string }{
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 99.0\"\n  }\n}\n", says: "1.12.6-dev", want: "it has version 1.12.6, and the configuration is compatible with >= 99.0"},
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n", says: "1.12.6-dev"},
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 99.0\"\n  }\n}\n", says: "new"},
		{says: "1.12.6"},
	} {
		s := newSite(t, world)
		s.write(t, "main.tofu", test.needs+"module \"a\" {\n  source = \"./a\"\n}\n")
		s.write(t, "a/main.tofu", "")
		asked := s.locate("asked")
		script := "#!/bin/sh\n: >" + asked + "\necho '{\"terraform_version\": \"" + test.says + "\"}'\n"
		testenv.WriteProgram(t, filepath.Join(bin, "tofu"), script)
		end := s.run("install", "PATH="+bin+":/usr/bin:/bin")
		if end.status != 0 || strings.Contains(end.out, "tofu will stop here") != (test.want != "") || !strings.Contains(end.out, test.want) {
			t.Errorf("needs %q, tofu says %q: status %d, want the warning %q:\n%s", test.needs, test.says, end.status, test.want, end.out)
		}
		if _, err := os.Stat(asked); (err == nil) != (test.needs != "") {
			t.Errorf("needs %q: tofu was asked: %v", test.needs, err == nil)
		}
	}
}
