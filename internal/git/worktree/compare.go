package worktree

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitattr"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// maxText is in bytes. The line ends of larger files are not compared.
const maxText = 64 << 20

func (w *Tree) modified(ctx context.Context, index map[string]indexEntry) ([]string, error) {
	settings, err := w.settings(ctx)
	if err != nil {
		return nil, err
	}
	c := &comparison{tree: w, settings: settings, dirs: map[string]bool{".": true}, lineEnds: map[string]bool{}}
	// If the index is written later, more of its times are too new to be trusted.
	if info, err := os.Stat(filepath.Join(w.gitDir, "index")); err == nil {
		c.written = timestampOf(info.ModTime())
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(index)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.differs(ctx, name, index[name]) {
			names = append(names, name)
		}
	}
	kept, err := c.keptLineEnds(ctx)
	return append(names, kept...), err
}

type settings struct {
	ignoreMode bool // core.fileMode=false
	plainLinks bool // core.symlinks=false: links are checked out as files with their targets
	autoCRLF   bool // core.autocrlf=true or input
}

func (w *Tree) settings(ctx context.Context) (settings, error) {
	list := w.command("config", "--list", "-z")
	list.Network = &gitexec.Network{} // with the user's configuration
	out, err := w.git.Output(ctx, list, maxConfig)
	if err != nil {
		return settings{}, err
	}
	s := settings{ignoreMode: runtime.GOOS == "windows"}
	for _, entry := range gitexec.SplitNames(string(out)) {
		name, value, hasValue := strings.Cut(entry, "\n")
		no := hasValue && !gitdir.IsTrue(value)
		switch name {
		case "core.filemode":
			s.ignoreMode = no || runtime.GOOS == "windows"
		case "core.symlinks":
			s.plainLinks = no
		case "core.autocrlf":
			s.autoCRLF = !no
		}
	}
	return s, nil
}

type comparison struct {
	tree     *Tree
	settings settings
	written  timestamp       // when the index was written
	dirs     map[string]bool // whether a path is a directory and no link
	// lineEnds has files that differ in line ends only, and whether text=auto converts them.
	lineEnds map[string]bool
}

// differs adds files that differ in line ends only to lineEnds instead.
func (c *comparison) differs(ctx context.Context, name string, entry indexEntry) bool {
	file := filepath.Join(c.tree.Top, filepath.FromSlash(name))
	info, err := os.Lstat(file)
	switch {
	case entry.skip && errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil || !c.isDir(path.Dir(name)):
		return true
	case entry.mode == modeGitlink:
		return !info.IsDir() || c.tree.submoduleMoved(ctx, file, entry.id)
	case entry.mode == modeLink && info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(file)
		return err != nil || !isObject([]byte(filepath.ToSlash(target)), entry.id)
	case entry.mode == modeLink && c.settings.plainLinks && info.Mode().IsRegular():
	case entry.mode == modeLink || !info.Mode().IsRegular():
		return true
	case !c.settings.ignoreMode && (info.Mode()&0o100 != 0) != (entry.mode == modeProgram):
		return true
	}
	return !c.isAsSeen(info, entry.seen) && c.differsInContent(name, file, entry)
}

// isDir reports whether dir is not a link.
func (c *comparison) isDir(dir string) bool {
	known, ok := c.dirs[dir]
	if !ok {
		info, err := os.Lstat(filepath.Join(c.tree.Top, filepath.FromSlash(dir)))
		known = err == nil && info.IsDir() && c.isDir(path.Dir(dir))
		c.dirs[dir] = known
	}
	return known
}

// isAsSeen allows for a file that was modified when the index was written, or later: as for git, it may have
// changed without a trace.
func (c *comparison) isAsSeen(info fs.FileInfo, seen fileState) bool {
	now, written := stateOf(info), c.written
	if seen.modified.nsec == 0 && seen.changed.nsec == 0 {
		// The index was written by a program that records whole seconds.
		now.modified.nsec, now.changed.nsec, written.nsec = 0, 0, 0
	}
	recorded := seen.modified.sec < written.sec || seen.modified.sec == written.sec && seen.modified.nsec < written.nsec
	// Git records the size 0 if it does not know whether a file has changed.
	return now == seen && recorded && seen.size != 0
}

func (c *comparison) differsInContent(name, file string, entry indexEntry) bool {
	f, err := os.Open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	hash := git.NewHash(entry.id, git.KindBlob, info.Size())
	n, err := io.Copy(hash, io.LimitReader(f, info.Size()+1))
	if err != nil || n != info.Size() {
		return true
	}
	if hex.EncodeToString(hash.Sum(nil)) == entry.id {
		return false
	}
	if n > maxText {
		return true
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return true
	}
	text := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	if len(text) == len(content) || !isObject(text, entry.id) {
		return true
	}
	c.lineEnds[name] = gitattr.IsPlainText(text)
	return false
}

func isObject(content []byte, id string) bool {
	hash := git.NewHash(id, git.KindBlob, int64(len(content)))
	hash.Write(content)
	return hex.EncodeToString(hash.Sum(nil)) == id
}

// submoduleMoved is false if the submodule is not checked out, and true if the user may not use it.
func (w *Tree) submoduleMoved(ctx context.Context, dir, id string) bool {
	sub, err := Open(w.git, dir)
	if err != nil {
		return true
	}
	if sub.Top == w.Top {
		return false
	}
	head, err := sub.commit(ctx, "HEAD")
	return err != nil || head != id
}

// keptLineEnds returns those in lineEnds that git does not convert.
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

// attributes decide whether git converts line ends.
var attributes = [...]string{"text", "crlf", "eol", "filter", "working-tree-encoding"}

// attributesOf has git read the checkout and the repository, which runs nothing.
func (w *Tree) attributesOf(ctx context.Context, names []string) (map[string]map[string]string, error) {
	command := w.command(append([]string{"check-attr", "-z", "--stdin"}, attributes[:]...)...)
	command.Input = strings.Join(names, "\x00") + "\x00"
	out, err := w.git.Output(ctx, command, maxEntries)
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for answer := range slices.Chunk(gitexec.SplitNames(string(out)), 3) {
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

// convertsLineEnds reports whether git replaces CRLF with LF, and no filter or encoding applies. plain is set if
// the content is text for text=auto.
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
