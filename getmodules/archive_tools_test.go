package getmodules_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

// TestToolsArchives unpacks archives made by commonly used tools.
func TestToolsArchives(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the file modes of the test's tree do not exist on Windows")
	}
	source, out := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(source, "main.tf"), "x")
	writeFile(t, filepath.Join(source, "módulo", "a.tf"), "y")
	writeFile(t, filepath.Join(source, "bin", "run.sh"), "#!/bin/sh")
	if err := os.Chmod(filepath.Join(source, "bin", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../main.tf", filepath.Join(source, "bin", "link.tf")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"main.tf": "x", "módulo": "dir", "módulo/a.tf": "y", "bin": "dir", "bin/run.sh": "exec:#!/bin/sh", "bin/link.tf": "link:../main.tf",
	}
	const commit = "git init -q . && git add . && git -c user.name=x -c user.email=x commit -qm x && "
	tests := []struct{ tool, script, file string }{
		{"git", commit + "git archive --format=zip -o $OUT/git.zip HEAD", "git.zip"},
		{"git", commit + "git archive --format=tar.gz -o $OUT/git.tar.gz HEAD", "git.tar.gz"},
		{"tar", "tar -czf $OUT/tar.tar.gz --exclude=.git .", "tar.tar.gz"},
		{"tar", "tar -czf $OUT/pax.tar.gz --format=posix --exclude=.git .", "pax.tar.gz"},
		{"bzip2", "tar -cjf $OUT/tar.tar.bz2 --exclude=.git .", "tar.tar.bz2"},
		{"zip", "zip -qry $OUT/zip.zip . -x '.git/*'", "zip.zip"},
		{"bsdtar", "bsdtar -czf $OUT/bsdtar.tar.gz --exclude=.git .", "bsdtar.tar.gz"},
		{"python3", "python3 -c 'import tarfile; t = tarfile.open(\"'$OUT'/py.tar.gz\", \"w:gz\"); t.add(\".\", filter=lambda i: None if \".git\" in i.name else i); t.close()'", "py.tar.gz"},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			if _, err := exec.LookPath(test.tool); err != nil {
				t.Skip("not installed: " + test.tool)
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", "rm -rf .git && "+test.script)
			shell.Dir = source
			shell.Env = append(os.Environ(), "OUT="+out, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
			if text, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			archive, err := os.ReadFile(filepath.Join(out, test.file))
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := extract(t, "", archive, getmodules.Limits{})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, tree differs (-want +got):\n%s", err, diff)
			}
		})
	}
}
