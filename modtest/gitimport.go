package modtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"
)

// commit is one commit that is to be made.
type commit struct {
	ref    string // what it is added to
	from   string // the parent's id; "" is the one before it in the same import
	tag    string
	files  []file
	number int // of commits made before it in the repository
}

// person is who made every commit. Like the dates it is fixed so that the ids
// are.
const person = "modtest <modtest@example.com>"

// importCommits makes the commits by one process and gives their ids. The
// stream's format is that of git-fast-import(1).
func (r *repository) importCommits(git string, commits []commit) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var stream bytes.Buffer
	for i, c := range commits {
		c.write(&stream, i+1)
		c.writeTag(&stream, i+1, r.annotated)
		// Answered by the commit's id on standard output.
		fmt.Fprintf(&stream, "get-mark :%d\n", i+1)
	}
	// A moved tag is not always a descendant of what it was.
	cmd := exec.Command(git, "fast-import", "--quiet", "--force")
	cmd.Dir = r.dir
	cmd.Env = gitEnv(r.dir)
	cmd.Stdin = &stream
	var out, report bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &report
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git fast-import: %w: %q", err, firstLine(report.String()))
	}
	ids := strings.Fields(out.String())
	if len(ids) != len(commits) {
		return nil, fmt.Errorf("git fast-import made %d commits of %d", len(ids), len(commits))
	}
	return ids, nil
}

func (c commit) date() string {
	const day = 24 * time.Hour
	return fmt.Sprintf("%d +0000", epoch.Add(time.Duration(c.number)*day).Unix())
}

func (c commit) write(w *bytes.Buffer, mark int) {
	fmt.Fprintf(w, "commit %s\nmark :%d\ncommitter %s %s\n", c.ref, mark, person, c.date())
	writeData(w, []byte(c.tag+"\n"))
	if c.from != "" {
		fmt.Fprintf(w, "from %s\n", c.from)
	}
	w.WriteString("deleteall\n")
	for _, f := range c.files {
		mode := "100644"
		switch f.mode {
		case 0o755:
			mode = "100755"
		case fs.ModeSymlink:
			mode = "120000"
		}
		fmt.Fprintf(w, "M %s inline %s\n", mode, quotePath(f.path))
		writeData(w, f.data)
	}
	w.WriteString("\n")
}

func (c commit) writeTag(w *bytes.Buffer, mark int, annotated bool) {
	switch {
	case c.tag == headTag:
	case annotated:
		fmt.Fprintf(w, "tag %s\nfrom :%d\ntagger %s %s\n", c.tag, mark, person, c.date())
		writeData(w, []byte(c.tag+"\n"))
	default:
		fmt.Fprintf(w, "reset refs/tags/%s\nfrom :%d\n\n", c.tag, mark)
	}
}

func writeData(w *bytes.Buffer, data []byte) {
	fmt.Fprintf(w, "data %d\n", len(data))
	w.Write(data)
	w.WriteString("\n")
}

// quotePath quotes a path as in C, which the format allows for all paths and
// demands for some.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// gitEnv is the whole environment of the server's git processes: nothing of
// the machine's or the user's settings can change what is served.
func gitEnv(home string) []string {
	return []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
