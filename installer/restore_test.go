package installer_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// asStock is a lock without module blocks, as a stock tool leaves it when it rewrites the file.
const asStock = `# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:FbGfc+muBsC17Ohy5g806iuI1hQc4SIexpYCrQHQd8w=",
  ]
}
`

func blocks(lock string) string {
	_, blocks, _ := strings.Cut(lock, "module \"")
	blocks, _, _ = strings.Cut(blocks, "provider \"")
	return strings.TrimSpace(blocks)
}

func TestInstallPutsDroppedEntriesBack(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	want := blocks(p.file(".terraform.lock.hcl"))
	p.publish(t, "acme/network/aws", "1.9.0") // would be selected if the entry were not restored
	p.write(t, ".terraform.lock.hcl", asStock)

	err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	var lost *installer.LockedError
	if !errors.As(err, &lost) || !lost.Lost || lost.LockFile != ".terraform.lock.hcl" {
		t.Errorf("Install with Locked = %v, want a *LockedError about lost entries", err)
	}
	p.mustInstall(t, request{})
	if diff := cmp.Diff(want, blocks(p.file(".terraform.lock.hcl"))); diff != "" {
		t.Errorf("module blocks (-before +after):\n%s", diff)
	}
	if !strings.Contains(p.file(".terraform.lock.hcl"), `provider "registry.opentofu.org/hashicorp/null"`) {
		t.Error("the provider's block is gone")
	}
	if !strings.Contains(p.events(), "had lost its entries for 5 modules") {
		t.Errorf("there is no warning:\n%s", p.events())
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	want := blocks(p.file(".terraform.lock.hcl"))
	req := request{Project: installer.Project{Dir: p.dir}}
	earlier := p.lockOf(t)
	for _, from := range []*lockfile.File{nil, earlier} {
		if _, err := installerinternal.Restore(t.Context(), p.installer(), req.Project, from); !errors.Is(err, installerinternal.ErrNothingToRestore) {
			t.Errorf("Restore of a whole lock = %v, want ErrNothingToRestore", err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", ".terraform.lock.hcl"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "lock"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, test := range []struct {
		earlier *lockfile.File
		from    string
	}{{nil, "the copy of the last run"}, {nil, "git show HEAD:.terraform.lock.hcl"}, {earlier, ""}} {
		p.write(t, ".terraform.lock.hcl", asStock)
		restored, err := installerinternal.Restore(t.Context(), p.installer(), req.Project, test.earlier)
		if err != nil {
			t.Fatalf("Restore from %q: %v", test.from, err)
		}
		if restored.From != test.from || len(restored.Modules) != 5 {
			t.Errorf("Restore = %+v, want 5 keys from %q", restored, test.from)
		}
		if diff := cmp.Diff(want, blocks(p.file(".terraform.lock.hcl"))); diff != "" {
			t.Errorf("module blocks from %q (-before +after):\n%s", test.from, diff)
		}
		p.remove(t, ".terraform")
	}
}

// TestStockToolDropsEntries checks that the lock can be restored after the real tool has
// rewritten it.
func TestStockToolDropsEntries(t *testing.T) {
	t.Parallel()
	binary := testenv.Program(t, "terraform")
	p := world(t, nested)
	p.mustInstall(t, request{Project: installer.Project{Dialect: installer.DialectTerraform}})
	want := blocks(p.file(".terraform.lock.hcl"))
	p.stock(t, binary, "providers", "lock", "-fs-mirror="+t.TempDir())
	if blocks(p.file(".terraform.lock.hcl")) != "" {
		t.Fatal("terraform providers lock kept the module blocks: there is nothing to heal any more")
	}
	p.mustInstall(t, request{Project: installer.Project{Dialect: installer.DialectTerraform}})
	if diff := cmp.Diff(want, blocks(p.file(".terraform.lock.hcl"))); diff != "" {
		t.Errorf("module blocks (-before +after):\n%s", diff)
	}
}
