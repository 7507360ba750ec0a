package modtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const mainBranch = "refs/heads/main"

type repository struct {
	dir       string
	host      string
	program   func() (git string, err error)
	annotated bool
	refuse    bool     // refuse to send commits by id
	manyRefs  []string // full names of further refs, sorted

	trees map[string]fs.FS // the initial content, by tag

	mu      sync.Mutex
	commits map[string]string // by tag, and headTag for main; nil until the repository is created
	made    int               // the number of commits so far, which determines the next one's date
}

// ensure creates the repository once.
func (r *repository) ensure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ensureLocked()
}

func (r *repository) ensureLocked() error {
	if r.commits != nil {
		return nil
	}
	if err := r.initBare(); err != nil {
		return err
	}
	commits := map[string]string{}
	tags := tagOrder(r.trees)
	var all []commit
	for _, tag := range tags {
		c := commit{ref: mainBranch, tag: tag, number: r.made + len(all)}
		var err error
		if c.files, err = readFiles(r.trees[tag], r.host); err != nil {
			return err
		}
		all = append(all, c)
	}
	ids, err := r.importCommits(all)
	if err != nil {
		return err
	}
	for i, tag := range tags {
		commits[tag], commits[headTag] = ids[i], ids[i]
	}
	if len(all) > 0 && len(r.manyRefs) > 0 {
		if err := r.writePackedRefs(r.manyRefs, commits[headTag]); err != nil {
			return err
		}
	}
	r.commits, r.made = commits, len(all)
	return nil
}

// initBare replaces "git init", a process that uses templates and settings of the machine.
func (r *repository) initBare() error {
	// An earlier attempt may have failed halfway.
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if !r.refuse {
		config += "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"
	}
	if err := os.WriteFile(filepath.Join(r.dir, "config"), []byte(config), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "HEAD"), []byte("ref: "+mainBranch+"\n"), 0o644)
}

// publish moves the tag, or adds a commit to main and a tag for it.
func (r *repository) publish(tag string, fsys fs.FS) error {
	_, err := r.add(fsys, func(c commit) commit {
		c.tag = tag
		if old, moving := r.commits[tag]; moving {
			c.ref, c.from = "refs/tags/"+tag, old
		}
		return c
	})
	return err
}

// propose adds a commit on top of main that only ref points to.
func (r *repository) propose(ref string, fsys fs.FS) (string, error) {
	return r.add(fsys, func(c commit) commit {
		c.ref = ref
		return c
	})
}

// add adds a commit to main, unless place changes that.
func (r *repository) add(fsys fs.FS, place func(commit) commit) (id string, err error) {
	files, err := readFiles(fsys, r.host)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensureLocked(); err != nil {
		return "", err
	}
	c := place(commit{ref: mainBranch, from: r.commits[headTag], files: files, number: r.made})
	ids, err := r.importCommits([]commit{c})
	if err != nil {
		return "", err
	}
	r.made++
	if c.tag != "" {
		r.commits[c.tag] = ids[0]
	}
	if c.ref == mainBranch {
		r.commits[headTag] = ids[0]
	}
	return ids[0], nil
}

func (r *repository) commit(tag string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensureLocked(); err != nil {
		return "", err
	}
	if id, ok := r.commits[tag]; ok {
		return id, nil
	}
	return "", fmt.Errorf("no such tag: %w", fs.ErrNotExist)
}

func (r *repository) remove(git, tag string) error {
	if _, err := r.commit(tag); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.run(git, "update-ref", "-d", "refs/tags/"+tag); err != nil {
		return err
	}
	delete(r.commits, tag)
	return nil
}

// restart creates the repository again, with one commit.
func (r *repository) restart(tag string, fsys fs.FS) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trees, r.commits, r.made = map[string]fs.FS{tag: fsys}, nil, 0
	return r.ensureLocked()
}
