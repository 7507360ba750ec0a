package main

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// tree returns the directory of a module's package in the cache.
func (s *site) tree(t *testing.T, key string) string {
	t.Helper()
	t1 := regexp.MustCompile(`"t1:(.*)"`).FindStringSubmatch(s.block(t, key))
	raw, err := base64.StdEncoding.DecodeString(t1[1])
	if err != nil {
		t.Fatal(err)
	}
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
	zip := func(name string, do func(tree string) step) tampering {
		return row(name, "module zip: "+damaged, gone("zip"), in("zip", do))
	}
	testTampering(t, tamperSite(t, "go", "tag", "tgz", "zip"), []tampering{
		row("nothing", "", healed(), all()),
		zip("byte flipped", func(tree string) step { return edit(tree+"/main.tf", "z", "Z") }),
		zip("truncated", func(tree string) step { return put(tree+"/main.tf", "") }),
		zip("file deleted", func(tree string) step { return drop(tree + "/run.sh") }),
		zip("file added", func(tree string) step { return put(tree+"/evil.tf", "# evil\n") }),
		zip("text added", func(tree string) step { return put(tree+"/x.txt", "x") }),
		zip("execute bit set", func(tree string) step { return chmod(tree+"/main.tf", 0o755) }),
		zip("link retargeted", func(tree string) step { return link(tree+"/link.md", "main.tf") }),
		zip("file replaced by a link", func(tree string) step {
			return all(rename(tree+"/main.tf", tree+"/../main.tf"), link(tree+"/main.tf", "../main.tf"))
		}),
		zip("link out of the cache", func(tree string) step { return link(tree+"/evil.tf", "/etc/passwd") }),
		zip("another tree", func(tree string) step { return all(drop(tree), put(tree+"/main.tf", "# evil\n")) }),
		row("tree of another module", "module zip: "+damaged, gone("zip"), func(t *testing.T, s *site) { rename(s.tree(t, "tgz"), s.tree(t, "zip"))(t, s) }),
		row("tree of a subdirectory's package", damaged, refused("neither installed nor in the cache"), in("tag", func(tree string) step { return edit(tree+"/shared/policy.json", "{}", "[]") })),
		row("module beside the called one", damaged, refused("neither installed nor in the cache"), in("tag", func(tree string) step { return edit(tree+"/modules/other/main.tf", "other", "evil") })),
		row("tree is a link", "", gone("zip"), in("zip", func(tree string) step { return all(rename(tree, tree+"/../evil"), link(tree, "evil")) })),
		row("tree is a file", "", gone("zip"), in("zip", func(tree string) step { return all(drop(tree), put(tree, "")) })),
		row("tree gone", "", gone("zip"), in("zip", func(tree string) step { return drop(tree) })),
		row("all trees gone", "", gone("zip"), drop("@cache/tree")),
		row("answers that lead to another tree", "", gone("zip"), func(t *testing.T, s *site) {
			drop(s.tree(t, "zip"))(t, s)
			rewriteAnswers(t, s, regexp.MustCompile(`"Tree":"[^"]*"`), `"Tree":"`+regexp.MustCompile(`t1:[^"]*`).FindString(s.block(t, "tgz"))+`"`)
		}),
		row("answers that are none", "", gone("zip"), func(t *testing.T, s *site) {
			drop(s.tree(t, "zip"))(t, s)
			rewriteAnswers(t, s, regexp.MustCompile(`(?s)^.*$`), `{"Tree":`)
		}),
		row("confirmations gone", "", refused("module zip (main.tf:", "no origin has confirmed"), drop("@cache/confirmed")),
	})
}

// rewriteAnswers edits the answers of earlier fetches that the cache keeps.
func rewriteAnswers(t *testing.T, s *site, pattern *regexp.Regexp, with string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.cache, "fetch/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no answers: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, file, pattern.ReplaceAllString(string(text), with))
	}
}
