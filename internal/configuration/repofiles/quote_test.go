package repofiles_test

import (
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestQuote says of which files messages may have lines, words, or nothing.
func TestQuote(t *testing.T) {
	t.Parallel()
	const lines, words, nothing = "lines", "words", "nothing"
	base := realTempDir(t)
	writeNames(t, base, "out.tf", "repo/.git/HEAD", "repo/.git/x.tf", "repo/root/x.tf", "repo/root/.x.tf", "repo/root/.terraform.lock.hcl", "repo/root/.home/x.tf", "repo/root/x.tfvars", "repo/common/x.tf.json", "repo/common/x.json", "repo/common/x.tfvars", "repo/.config/x.tf", "repo2/x.tf")
	for name, target := range map[string]string{
		"a.tf": "x.tf", "b.tf": "../common/x.tf.json", "c.tf": "../common/x.json", "d.tf": "../common/x.tfvars", "d.tfvars": "../common/x.tfvars", "e.tf": "../../out.tf", "f.tf": "../.git/x.tf", "g.tf": "nothing.tf", "h.tf": "../.config/x.tf",
	} {
		link(t, filepath.Join(base, "repo/root"), name, target)
	}
	link(t, base, "repo/common/up", "../common")
	no := func(string) bool { return false }
	for _, test := range []struct {
		name, home string
		isUsable   func(string) bool
		want       map[string]string
	}{
		{name: "repository", isUsable: yes, want: map[string]string{
			"x.tf": lines, ".x.tf": lines, filepath.Join(base, "repo/root/x.tf"): lines, "x.tfvars": words, "../common/x.tf.json": lines, "../common/x.json": words, "../.config/x.tf": lines,
			"a.tf": lines, "b.tf": lines, "h.tf": lines, "d.tfvars": words, "../common/up/x.tf.json": lines,
			"c.tf": nothing, "d.tf": nothing, "e.tf": nothing, "f.tf": nothing, "g.tf": nothing, "../.git/x.tf": nothing, "../../out.tf": nothing, "../../repo2/x.tf": nothing, ".": nothing,
		}},
		{name: "home directory", home: filepath.Join(base, "repo"), isUsable: yes, want: map[string]string{
			"x.tf": lines, ".x.tf": lines, "../common/x.tf.json": lines, "../common/x.json": words, "a.tf": lines,
			"b.tf": nothing, "e.tf": nothing, "h.tf": nothing, "../common/up/x.tf.json": nothing, "../.config/x.tf": nothing, "../.git/x.tf": nothing, "../../out.tf": nothing,
		}},
		{name: "home directory in the root module", home: filepath.Join(base, "repo/root/.home"), isUsable: yes, want: map[string]string{
			"x.tf": lines, ".terraform.lock.hcl": lines, ".x.tf": nothing, ".home/x.tf": nothing,
		}},
		{name: "of another user", isUsable: no, want: map[string]string{"x.tf": lines, "../common/x.tf.json": lines, "b.tf": nothing, "../../out.tf": nothing}},
	} {
		dir := dirOf(t, filepath.Join(base, "repo/root"), test.home, test.isUsable)
		for name, want := range test.want {
			got := nothing
			if dir.MayRepeat(name) {
				got = words
			}
			if f, err := dir.OpenQuotable(name); err == nil {
				testenv.Must(t, f.Close())
				if got != words {
					t.Errorf("%s, %s: lines, but no words", test.name, name)
				}
				got = lines
			}
			if got != want {
				t.Errorf("%s: messages have %s of %s, want %s", test.name, got, name, want)
			}
		}
	}
	plain := realTempDir(t)
	writeNames(t, plain, "root/x", "modules/x.tf", ".hidden/x.tf")
	link(t, plain, "root/l.tf", "../modules/x.tf")
	dir := dirOf(t, filepath.Join(plain, "root"), "", yes)
	for name, want := range map[string]bool{"../modules/x.tf": true, "../.hidden/x.tf": false, "l.tf": false, filepath.Join(plain, "modules/x.tf"): true} {
		if f, err := dir.OpenQuotable(name); (err == nil) != want {
			t.Errorf("no repository: OpenQuotable(%s) = %v", name, err)
		} else if err == nil {
			testenv.Must(t, f.Close())
		}
	}
}
