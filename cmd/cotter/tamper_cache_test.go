package main

import (
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// tree returns the directory of a module's package in the cache.
func (s *site) tree(t *testing.T, key string) string {
	t.Helper()
	t1 := regexp.MustCompile(`"t1:(.*)"`).FindStringSubmatch(s.block(t, key))
	raw, err := base64.StdEncoding.DecodeString(t1[1])
	testenv.Must(t, err)
	return "@cache/tree/t1-" + hex.EncodeToString(raw)
}

// TestTamperCache changes packages and other files in the cache. A run that needs a damaged
// package notices the damage, sets the package aside and fetches it again; with --offline it
// fails.
func TestTamperCache(t *testing.T) {
	t.Parallel()
	row := func(name, says string, offline *outcome, do func(t *testing.T, s *site)) tampering {
		return tampering{name: name, do: do, want: outcomes{locked: accepted(), fresh: healed(says), offline: offline, verify: accepted()}}
	}
	// in returns a step that applies do to a module's package in the cache.
	in := func(key string, do func(tree string) step) step {
		return func(t *testing.T, s *site) {
			t.Helper()
			do(s.tree(t, key))(t, s)
		}
	}
	const damaged = "its package in the cache was damaged; it was set aside"
	gone := func(key string) *outcome {
		return refused("module "+key+" (main.tf:", "neither installed nor in the cache")
	}
	testTampering(t, tamperSite(t, "go", "tag", "tgz", "zip"), []tampering{
		row("nothing", "", healed(), all()),
		row("byte flipped", "module zip: "+damaged, gone("zip"), in("zip", func(tree string) step { return edit(tree+"/main.tf", "z", "Z") })),
		row("tree of another module", "module zip: "+damaged, gone("zip"), func(t *testing.T, s *site) { rename(s.tree(t, "tgz"), s.tree(t, "zip"))(t, s) }),
		row("tree of a subdirectory's package", damaged, refused("neither installed nor in the cache"), in("tag", func(tree string) step { return edit(tree+"/shared/policy.json", "{}", "[]") })),
		row("tree gone", "", gone("zip"), in("zip", func(tree string) step { return drop(tree) })),
		row("answers that lead to another tree", "", gone("zip"), func(t *testing.T, s *site) {
			drop(s.tree(t, "zip"))(t, s)
			files, err := filepath.Glob(s.locate("@cache/fetch/*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("there are no answers: %v", err)
			}
			other := `"Tree":"` + regexp.MustCompile(`t1:[^"]*`).FindString(s.block(t, "tgz")) + `"`
			for _, file := range files {
				testenv.WriteFile(t, file, regexp.MustCompile(`"Tree":"[^"]*"`).ReplaceAllString(string(readFile(t, file)), other))
			}
		}),
		row("confirmations gone", "", refused("module zip (main.tf:", "no origin has confirmed"), drop("@cache/confirmed")),
	})
}
