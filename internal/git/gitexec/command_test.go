//go:build unix

package gitexec_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

func TestErrorIsSafe(t *testing.T) {
	t.Parallel()
	body := `printf 'remote: 10%% (1/2)\rremote: \033]52;c;x\007 \342\200\256evil\n' >&2
echo "fatal: could not read from https://user:hunter2@h.example/n.git s%2Fcret-value s/cret-value" >&2
echo "fatal: unable to access 'https://h.example/n.git?token=hunter2&ref=v1/': no" >&2
exit 7`
	g := &gitexec.Git{Path: fakeGit(t, "", body), Env: env()}
	err := g.Run(t.Context(), gitexec.Command{
		Args:    []string{"fetch", "https://user:hunter2@h.example/n.git"},
		Secrets: []string{"s/cret-value", ""},
	})
	var e *gitexec.Error
	if !errors.As(err, &e) {
		t.Fatalf("Run = %v, want an *Error", err)
	}
	if e.ExitCode != 7 || e.Args[1] != "https://h.example/n.git" {
		t.Errorf("Error = %+v, want the exit status 7 and a redacted URL", e)
	}
	want := `remote: \x1b]52;c;x\a \u202eevil` + "\n" +
		"fatal: could not read from https://h.example/n.git REDACTED REDACTED" + "\n" +
		"fatal: unable to access 'https://h.example/n.git?token=REDACTED&ref=v1/': no"
	if e.Stderr != want {
		t.Errorf("Stderr = %q, want %q", e.Stderr, want)
	}
	if !e.Says("nothing", "COULD not READ") || e.Says("nothing") {
		t.Error("Says does not find just what is there")
	}
	if strings.Contains(e.Error(), "\n") || !strings.Contains(e.Error(), "fatal: could not") {
		t.Errorf("Error() = %q", e.Error())
	}
}

func TestErrorIsShort(t *testing.T) {
	t.Parallel()
	body := `i=0; while [ $i -lt 5000 ]; do echo "line $i of many, all of them long enough" >&2; i=$((i+1)); done
printf 'fatal: the end' >&2; exit 1`
	g := &gitexec.Git{Path: fakeGit(t, "", body), Env: env()}
	err := g.Run(t.Context(), gitexec.Command{Args: []string{"x"}})
	e, ok := errors.AsType[*gitexec.Error](err)
	if !ok || len(e.Stderr) > gitexec.MaxStderr || len(e.Error()) > 1000 {
		t.Fatalf("Run = %v", err)
	}
	if !strings.HasPrefix(e.Stderr, "line ") || !strings.HasSuffix(e.Stderr, "\nfatal: the end") {
		t.Errorf("Stderr = %q..., want whole lines up to the last", e.Stderr[:100])
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", "cat /dev/zero"), Env: env()}
	if _, err := g.Output(t.Context(), gitexec.Command{Args: []string{"x"}}, 1000); !errors.Is(err, gitexec.ErrOutput) {
		t.Errorf("Output = %v, want ErrOutput", err)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", "exec sleep 600"), Env: env()}
	err := g.Run(t.Context(), gitexec.Command{Args: []string{"x"}, Network: &gitexec.Network{Idle: time.Millisecond}})
	if !errors.Is(err, gitexec.ErrIdle) {
		t.Errorf("Run of a silent git = %v, want ErrIdle", err)
	}
}

// TestCancel cancels a git that, like its child process, ignores SIGTERM. Both hold a pipe
// open; the end of the pipe shows that they have ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	git := fakeGit(t, "", `trap '' TERM
exec 9>"$PIPE"
(trap '' TERM; sleep 600) &
echo started >&9
sleep 600`)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gitexec.Git{Path: git, Env: env("PIPE=" + pipe)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- g.Run(ctx, gitexec.Command{Args: []string{"x"}}) }()

	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if line, err := r.ReadString('\n'); line != "started\n" {
		t.Fatalf("git said %q, %v", line, err)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want context.Canceled", err)
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
		t.Errorf("after the end git said %q, %v", rest, err)
	}
}

// TestDaemon runs a git that leaves a process behind. That process holds git's standard
// error open, as credential caches and ssh masters do, but does not delay the result and
// is not killed.
func TestDaemon(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	g := &gitexec.Git{Path: fakeGit(t, "", "sleep 600 & echo $! > "+pid), Env: env()}
	if err := g.Run(t.Context(), gitexec.Command{Args: []string{"x"}}); err != nil {
		t.Errorf("Run = %v, want success", err)
	}
	if err := exec.Command("sh", "-c", "kill $(cat "+pid+")").Run(); err != nil {
		t.Errorf("the process that was left behind is gone: %v", err)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", "cat"), Env: env()}
	p, err := g.Start(t.Context(), gitexec.Command{Args: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.Stdin, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(p.Stdout); string(out) != "hello" || err != nil {
		t.Errorf("git wrote %q, %v", out, err)
	}
	for range 2 {
		if err := p.Wait(); err != nil {
			t.Errorf("Wait = %v", err)
		}
	}
	p.Kill() // has no effect after Wait
}

func TestNoInputNoTerminal(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", `cat; if (: </dev/tty) 2>/dev/null; then echo terminal; fi; echo done`), Env: env()}
	if got := run(t, g, gitexec.Command{Args: []string{"x"}}); got != "done\n" {
		t.Errorf("git wrote %q, want no input and no terminal", got)
	}
}
