package modtest

import (
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gittest"
)

type commit struct {
	ref    string // the ref that it is added to
	from   string // the parent's id; "" means the previous commit in the same import
	tag    string // "" for a commit without a tag
	files  []file
	number int // the number of earlier commits in the repository
}

// person is fixed, like the dates, so that the ids are.
const person = "modtest <modtest@example.com>"

func (r *repository) importCommits(commits []commit) ([]string, error) {
	repo := gittest.Repository{Dir: r.dir}
	var ids []string
	bytes := 0
	for i, c := range commits {
		if i > 0 && c.from == "" {
			c.from = ids[i-1]
		}
		id, err := c.write(repo)
		if err == nil {
			err = c.writeTag(repo, id, r.annotated)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		for _, f := range c.files {
			bytes += len(f.data)
		}
	}
	if bytes > maxLoose {
		return ids, r.repack()
	}
	return ids, nil
}

// maxLoose bounds the bytes of files in loose objects, which git compresses again for each fetch: seconds
// for tens of megabytes. Packs are sent unchanged.
const maxLoose = 1 << 20

// repack moves loose objects into a pack, unless no ref reaches them.
func (r *repository) repack() error {
	git, err := r.program()
	if err != nil {
		return err
	}
	return r.run(git, "repack", "-d", "-q")
}

func (r *repository) run(git string, args ...string) error {
	cmd := exec.Command(git, args...)
	cmd.Dir, cmd.Env = r.dir, gitEnv(r.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %q", args[0], err, firstLine(string(out)))
	}
	return nil
}

func (c commit) by() string {
	const day = 24 * time.Hour
	return fmt.Sprintf("%s %d +0000", person, epoch.Add(time.Duration(c.number)*day).Unix())
}

func (c commit) write(repo gittest.Repository) (id string, err error) {
	modes := map[fs.FileMode]string{0o755: "100755", fs.ModeSymlink: "120000"}
	var files []gittest.File
	for _, f := range c.files {
		files = append(files, gittest.File{Path: f.path, Mode: modes[f.mode], Content: f.data})
	}
	made := gittest.Commit{By: c.by(), Message: c.tag + "\n"}
	if made.Tree, err = repo.Tree(files...); err != nil {
		return "", err
	}
	if c.from != "" {
		made.Parents = []string{c.from}
	}
	if id, err = repo.Commit(made); err != nil {
		return "", err
	}
	return id, repo.SetRef(c.ref, id)
}

func (c commit) writeTag(repo gittest.Repository, id string, annotated bool) error {
	if c.tag == headTag || c.tag == "" {
		return nil
	}
	ref := git.Tags + c.tag
	if err := git.CheckRef(ref); err != nil {
		return fmt.Errorf("git allows no tag %q: %w", c.tag, err)
	}
	if !annotated {
		return repo.SetRef(ref, id)
	}
	_, err := repo.Tag(gittest.Tag{Name: c.tag, Object: id, By: c.by(), Message: c.tag + "\n"})
	return err
}

// gitEnv is the whole environment, so that no settings of the machine or the user change the content.
func gitEnv(home string) []string {
	return []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
