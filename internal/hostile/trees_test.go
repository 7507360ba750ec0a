package hostile_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's own names
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

type objects struct {
	bodies map[string]map[string][]byte
	known  map[*TreeEntry]string // trees that are part of several others
}

func (o *objects) add(kind string, body []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", kind, len(body)), body...)) //nolint:gosec // git's own names
	id := hex.EncodeToString(sum[:])
	if o.bodies[kind] == nil {
		o.bodies[kind] = map[string][]byte{}
	}
	o.bodies[kind][id] = body
	return id
}

func (o *objects) tree(entries []TreeEntry) string {
	if len(entries) > 0 && o.known[&entries[0]] != "" {
		return o.known[&entries[0]]
	}
	var body []byte
	for _, e := range entries {
		id := e.ID
		switch {
		case id != "":
		case e.Tree != nil || e.Mode == "40000" && e.Text == "":
			id = o.tree(e.Tree)
		default:
			id = o.add("blob", []byte(e.Text))
		}
		raw, _ := hex.DecodeString(id)
		body = append(fmt.Appendf(body, "%s %s\x00", e.Mode, e.Name), raw...)
	}
	id := o.add("tree", body)
	if len(entries) > 0 {
		o.known[&entries[0]] = id
	}
	return id
}

func (o *objects) commit(tree string) string {
	return o.add("commit", fmt.Appendf(nil, "tree %s\nauthor a <a@example.com> 0 +0000\ncommitter a <a@example.com> 0 +0000\n\nx\n", tree))
}

// write makes git write all objects. Git does not check them.
func (o *objects) write(dir string) error {
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--template=", filepath.Join(dir, "all.git")).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	for kind, bodies := range o.bodies {
		var paths, ids []string
		for id, body := range bodies {
			path := filepath.Join(dir, id)
			if err := os.WriteFile(path, body, 0o600); err != nil {
				return err
			}
			paths, ids = append(paths, path), append(ids, id)
		}
		cmd := exec.Command("git", "hash-object", "-t", kind, "--literally", "-w", "--stdin-paths")
		cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(dir, "all.git"))
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("git hash-object: %w: %s", err, stderrOf(err))
		}
		if got := strings.Fields(string(out)); !slices.Equal(got, ids) {
			return fmt.Errorf("git names the %ss %.200q, want %.200q", kind, got, ids)
		}
	}
	return o.pack(dir)
}

func (o *objects) pack(dir string) error {
	var ids strings.Builder
	for _, bodies := range o.bodies {
		for id := range bodies {
			ids.WriteString(id + "\n")
		}
	}
	cmd := exec.Command("git", "pack-objects", "--quiet", "--window=0", filepath.Join(dir, "pack"))
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(dir, "all.git"))
	cmd.Stdin = strings.NewReader(ids.String())
	if _, err := cmd.Output(); err != nil {
		return fmt.Errorf("git pack-objects: %w: %s", err, stderrOf(err))
	}
	return nil
}

// nowhere is the address of the repository whose commits are in the store.
const nowhere = "file:///nonexistent/repository.git"

// trees fetches the tree of each commit from a store that already has it, so that neither git's
// transfer nor its checks are involved.
func (r *reader) trees(outside string) {
	if _, err := exec.LookPath("git"); err != nil {
		r.Problems = append(r.Problems, "git is not installed")
		return
	}
	scratch := filepath.Join(r.base, "objects")
	if err := errors.Join(os.Mkdir(scratch, 0o700), os.Mkdir(filepath.Join(r.base, "cache"), 0o700)); err != nil {
		r.Problems = append(r.Problems, err.Error())
		return
	}
	o := &objects{map[string]map[string][]byte{}, map[*TreeEntry]string{}}
	commits := map[string]string{}
	for c := range Trees(outside) {
		commits[c.Class+" "+c.Name] = o.commit(o.tree(c.Input))
	}
	if err := o.write(scratch); err != nil {
		r.Problems = append(r.Problems, err.Error())
		return
	}
	f := &getmodules.Fetcher{CacheDir: filepath.Join(r.base, "cache"), Attempts: 1}
	g := &getmodules.Fetcher{CacheDir: f.CacheDir, Attempts: 1, Limits: getmodules.Limits{Portable: true}}
	feed(r, Trees(outside), func(c Case[[]TreeEntry], portable bool) (bool, error) {
		if err := r.store(scratch); err != nil {
			return false, err
		}
		if err := os.RemoveAll(r.dir()); err != nil {
			return false, err
		}
		use := f
		if portable {
			use = g
		}
		pkg, err := use.Fetch(context.Background(), getmodules.Request{
			Package: addrs.ParseModulePackage("git::" + nowhere), Revision: commits[c.Class+" "+c.Name], Dir: r.dir(),
		})
		r.checkTree(err)
		if err != nil {
			return false, err
		}
		r.checkWarnings(pkg.Warnings)
		return len(pkg.Warnings) > 0, nil
	})
	if err := errors.Join(os.RemoveAll(scratch), os.RemoveAll(f.CacheDir)); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
}

// store puts the pack into the directory that the fetcher keeps for the repository, unless it is there
// already.
func (r *reader) store(scratch string) error {
	store := filepath.Join(r.base, "cache", "git", fmt.Sprintf("%x", sha256.Sum256([]byte(nowhere))))
	packs, err := filepath.Glob(filepath.Join(scratch, "pack-*"))
	if err != nil || len(packs) == 0 {
		return errors.Join(errors.New("there is no pack"), err)
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		return err
	}
	for _, pack := range packs {
		err := os.Link(pack, filepath.Join(store, filepath.Base(pack)))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
