package versions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/versions"
)

// randomConstraints returns constraints of a few similar versions, so that many of them differ
// only in the operator, the pre-release or the build metadata.
func randomConstraints(random *rand.Rand) string {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	parts := make([]string, 1+random.IntN(6))
	for i := range parts {
		operator := pick("", "= ", "!= ", "> ", ">= ", "< ", "<= ", "~> ", "~>", ">=")
		numbers := pick("1", "1.2", "1.2.0", "1.2.3", "1.2.3", "1.2.3", "01.2.3", "1.2.10", "0", "10.0.0")
		prerelease := pick("", "", "", "-rc", "-rc.1", "-rc.10", "-rc.9", "-1", "-01", "-a.b", "-b", "-rc-1", "-RC")
		metadata := pick("", "", "+m1", "+m9", "+m10", "+1", "+01", "+9", "+10", "+m.1", "+m.1.2", "+M1", "+a-b")
		parts[i] = operator + numbers + prerelease + metadata
	}
	return strings.Join(parts, pick(",", ", ", " , "))
}

// Stock tools refuse a lock whose constraints are not exactly in the form that they write
// themselves, so they check every text here.
func TestProviderConstraintsLikeStock(t *testing.T) {
	t.Parallel()
	const seed, sets = 1, 3000
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a reproducible test
	var lock strings.Builder
	inputs := map[string]string{}
	for i := range sets {
		input := randomConstraints(random)
		c, err := versions.ParseProviderConstraints(input)
		if err != nil {
			continue // TestSelectProviderLikeStock compares the errors
		}
		address := fmt.Sprintf("example.com/a/p%d", i)
		inputs[address] = input
		fmt.Fprintf(&lock, "provider %q {\n  version = \"1.0.0\"\n  constraints = %q\n}\n", address, c)
	}
	if len(inputs) < sets/2 {
		t.Fatalf("only %d of %d random constraints are valid", len(inputs), sets)
	}
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary, err := exec.LookPath(tool)
			if err != nil {
				t.Skipf("%s is not installed", tool)
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"main.tf": "locals {}\n", ".terraform.lock.hcl": lock.String()} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(binary, "init", "-input=false", "-no-color")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
			out, err := cmd.CombinedOutput()
			if err == nil {
				return
			}
			t.Errorf("%s: %v\n%s", tool, err, out)
			for address, input := range inputs {
				if strings.Contains(string(out), address+" ") {
					t.Logf("%s: %s", address, input)
				}
			}
		})
	}
}
