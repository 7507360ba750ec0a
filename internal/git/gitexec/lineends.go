package gitexec

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// keptLineEnds returns those of the files that differ in line ends only whose line ends git does
// not convert. They have changed.
func (c *comparison) keptLineEnds(ctx context.Context) ([]string, error) {
	names := slices.Sorted(maps.Keys(c.lineEnds))
	if len(names) == 0 {
		return nil, nil
	}
	found, err := c.tree.attributesOf(ctx, names)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return convertsLineEnds(found[name], c.settings.autoCRLF, c.lineEnds[name])
	}), nil
}

// attributes are the attributes that decide whether git converts line ends.
var attributes = [...]string{"text", "crlf", "eol", "filter", "working-tree-encoding"}

// attributesOf returns the attributes of files. Git reads them from the checkout and from the
// repository, and runs nothing for that.
func (w *WorkTree) attributesOf(ctx context.Context, names []string) (map[string]map[string]string, error) {
	command := w.command(append([]string{"check-attr", "-z", "--stdin"}, attributes[:]...)...)
	process, err := w.git.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	go func() {
		// A failure here becomes visible as a missing answer.
		_, _ = io.WriteString(process.Stdin, strings.Join(names, "\x00")+"\x00")
		_ = process.Stdin.Close()
	}()
	out, err := io.ReadAll(io.LimitReader(process.Stdout, maxEntries))
	if err != nil {
		process.Kill()
		return nil, err
	}
	if err := process.Wait(); err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for answer := range slices.Chunk(splitNames(string(out)), 3) {
		if len(answer) != 3 {
			return nil, fmt.Errorf("%w: %q", errAnswer, answer)
		}
		if found[answer[0]] == nil {
			found[answer[0]] = map[string]string{}
		}
		found[answer[0]][answer[1]] = answer[2]
	}
	return found, nil
}

// convertsLineEnds reports whether git replaces CRLF with LF in a file that is added to the
// index. plain is set if the content is text by git's rule for text=auto. It returns false if a
// filter or an encoding applies too.
func convertsLineEnds(found map[string]string, autoCRLF, plain bool) bool {
	const unspecified, unset = "unspecified", "unset"
	if found == nil {
		return false
	}
	for _, name := range []string{"filter", "working-tree-encoding"} {
		if value := found[name]; value != unspecified && value != unset {
			return false
		}
	}
	kind := found["text"]
	if !slices.Contains([]string{"set", unset, "input", "auto"}, kind) {
		kind = found["crlf"]
	}
	switch kind {
	case "set", "input":
		return true
	case unset:
		return false
	case "auto":
		return plain
	}
	if eol := found["eol"]; eol == "lf" || eol == "crlf" {
		return true
	}
	return autoCRLF && plain
}
