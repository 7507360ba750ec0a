package gitexec

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own object names
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitattr"
)

// maxText bounds the size of a file whose line ends are compared, in bytes. A larger file
// counts as changed if its bytes differ.
const maxText = 64 << 20

// modified returns the files whose content or mode in the checkout differs from the index.
func (w *WorkTree) modified(ctx context.Context, index map[string]indexEntry) ([]string, error) {
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

// settings are the settings of git that affect how files are compared.
type settings struct {
	ignoreMode bool // core.fileMode=false
	plainLinks bool // core.symlinks=false: links are checked out as files with their targets
	autoCRLF   bool // core.autocrlf=true or input
}

// settings reads the settings of the repository, and the user's core.autocrlf.
func (w *WorkTree) settings(ctx context.Context) (settings, error) {
	found, err := w.git.find(ctx)
	if err != nil {
		return settings{}, err
	}
	own, err := w.git.Output(ctx, w.command("config", "--list", "-z"), maxConfig)
	if err != nil {
		return settings{}, err
	}
	s := settings{ignoreMode: runtime.GOOS == "windows"}
	for _, entry := range slices.Concat(splitNames(found.config), splitNames(string(own))) {
		name, value, hasValue := strings.Cut(entry, "\n")
		no := hasValue && slices.Contains([]string{"", "false", "no", "off", "0"}, strings.ToLower(value))
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

// comparison compares the files of a checkout with its index.
type comparison struct {
	tree     *WorkTree
	settings settings
	written  timestamp       // when the index was written
	dirs     map[string]bool // whether a path is a directory and no link
	// lineEnds has the files that differ from their objects in line ends only, and whether
	// text=auto lets git convert them.
	lineEnds map[string]bool
}

// differs reports whether a file differs from the index. Files that differ in line ends only
// are added to lineEnds instead.
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

// isDir reports whether a directory of the checkout is a directory, and not a link to one.
func (c *comparison) isDir(dir string) bool {
	known, ok := c.dirs[dir]
	if !ok {
		info, err := os.Lstat(filepath.Join(c.tree.Top, filepath.FromSlash(dir)))
		known = err == nil && info.IsDir() && c.isDir(path.Dir(dir))
		c.dirs[dir] = known
	}
	return known
}

// isAsSeen reports whether a file is unchanged since the index recorded it. As for git, a file
// may have changed without a trace if it was modified when the index was written, or later.
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

// differsInContent compares the content of a regular file with its object.
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
	hash := newObjectHash(entry.id, info.Size())
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

// isObject reports whether content is that of the blob with a name.
func isObject(content []byte, id string) bool {
	hash := newObjectHash(id, int64(len(content)))
	hash.Write(content)
	return hex.EncodeToString(hash.Sum(nil)) == id
}

// newObjectHash returns the hash for the name of a blob, to which its content is written. It is
// the hash by which id was made.
func newObjectHash(id string, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see above
	if len(id) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// submoduleMoved reports whether another commit than id is checked out in a submodule. It
// returns false if the submodule is not checked out, and true if the user may not use it.
func (w *WorkTree) submoduleMoved(ctx context.Context, dir, id string) bool {
	sub, err := w.git.WorkTree(dir)
	if err != nil {
		return true
	}
	if sub.Top == w.Top {
		return false
	}
	head, err := sub.commit(ctx, "HEAD")
	return err != nil || head != id
}
