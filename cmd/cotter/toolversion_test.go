package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tofu stops at a configuration that is not compatible with its version, so an installation says that
// before. A tofu that does not say its version is no reason for a warning.
func TestIncompatibleTofu(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for tofu is a shell script")
	}
	bin := t.TempDir()
	for _, test := range []struct{ needs, says, want string }{
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 99.0\"\n  }\n}\n", says: "1.12.6-dev", want: "it has version 1.12.6, and the configuration is compatible with >= 99.0"},
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n", says: "1.12.6-dev"},
		{needs: "language {\n  compatible_with {\n    opentofu = \">= 99.0\"\n  }\n}\n", says: "new"},
		{says: "1.12.6"},
	} {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "main.tofu"), test.needs+"module \"a\" {\n  source = \"./a\"\n}\n")
		writeText(t, filepath.Join(dir, "a", "main.tofu"), "")
		asked := filepath.Join(dir, "asked")
		script := "#!/bin/sh\n: >" + asked + "\necho '{\"terraform_version\": \"" + test.says + "\"}'\n"
		if err := os.WriteFile(filepath.Join(bin, "tofu"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(cotterBinary, "install")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CI=", "PATH="+bin+":/usr/bin:/bin", "HOME="+dir, "TF_CLI_CONFIG_FILE=")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "tofu will stop here") != (test.want != "") || !strings.Contains(string(out), test.want) {
			t.Errorf("needs %q, tofu says %q: %v, want the warning %q:\n%s", test.needs, test.says, err, test.want, out)
		}
		if _, err := os.Stat(asked); (err == nil) != (test.needs != "") {
			t.Errorf("needs %q: tofu was asked: %v", test.needs, err == nil)
		}
	}
}
