//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// waitingTool is a tofu that rewrites the lock, prints its process ID and each signal that
// it receives, and ends only on SIGTERM. The background process waits for a writer of the
// pipe "hold" that never comes, so that the shell can be interrupted while it waits.
const waitingTool = `#!/bin/sh
echo '# no modules' > .terraform.lock.hcl
trap 'echo INT' INT
trap 'echo TERM; kill $holding; exit 7' TERM
cat hold > waited 2>&1 &
holding=$!
echo "ready $$"
while :; do wait $holding; done
`

// keptEntry is what Cotter prints after a tool that rewrote the lock.
const keptEntry = "Put back 1 module entry, which tofu had dropped from .terraform.lock.hcl."

const initWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
# net
-- config/main.tofu --
module "net" {
  source = "MODTEST_HOST/acme/net/aws"
}
`

// handoverTest runs "cotter init" in a project, with a shell script as the stock tool.
type handoverTest struct {
	dir string
	cmd *exec.Cmd
}

func newHandover(t *testing.T, world *modtest.World, script string) *handoverTest {
	t.Helper()
	s := newSite(t, world)
	testenv.Must(t, world.WriteTree(s.project, "config"))
	h := &handoverTest{dir: s.project}
	tool := filepath.Join(t.TempDir(), "tofu")
	testenv.WriteProgram(t, tool, script)
	testenv.Must(t, unix.Mkfifo(filepath.Join(h.dir, "hold"), 0o600))
	h.cmd = s.command("init --tool " + tool)
	var stderr bytes.Buffer
	h.cmd.Stderr = &stderr
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stderr: %s", &stderr)
		}
	})
	return h
}

// start starts Cotter in its own process group, and returns the output lines of Cotter and
// the tool.
func (h *handoverTest) start(t *testing.T) *bufio.Scanner {
	t.Helper()
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := h.cmd.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, h.cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) })
	return bufio.NewScanner(stdout)
}

// await reads lines until one begins with a word, and returns the rest of that line.
func await(t *testing.T, lines *bufio.Scanner, word string) string {
	t.Helper()
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), word); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("the output ended before %q", word)
	return ""
}

// end waits until Cotter has ended, and compares its exit status and the rest of the output.
// The lock must still have its module.
func (h *handoverTest) end(t *testing.T, lines *bufio.Scanner, status int, want ...string) {
	t.Helper()
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	_ = h.cmd.Wait() // the exit status is checked below
	if got := h.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d (%v), want %d", got, h.cmd.ProcessState, status)
	}
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Errorf("the rest of the output (-want +got):\n%s", diff)
	}
	lock := readFile(t, filepath.Join(h.dir, ".terraform.lock.hcl"))
	if !strings.Contains(string(lock), `module "net"`) || !strings.Contains(string(lock), "# no modules") {
		t.Errorf("the lock is not that of the tool with its module:\n%s", lock)
	}
}

// signal sends a signal to Cotter only, or to its whole process group as a terminal does.
func (h *handoverTest) signal(t *testing.T, sig syscall.Signal, group bool) {
	t.Helper()
	pid := h.cmd.Process.Pid
	if group {
		pid = -pid
	}
	testenv.Must(t, syscall.Kill(pid, sig))
}

// TestInitSignals sends signals while the tool runs. Each signal reaches the tool once,
// Cotter waits for the tool, and the entries that the tool has dropped are put back into the
// lock.
func TestInitSignals(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(initWorld))

	t.Run("SIGTERM is passed on", func(t *testing.T) {
		t.Parallel()
		h := newHandover(t, world, waitingTool)
		lines := h.start(t)
		await(t, lines, "ready")
		h.signal(t, syscall.SIGTERM, false)
		h.end(t, lines, 7, "TERM", keptEntry)
	})

	t.Run("signals of the terminal are not", func(t *testing.T) {
		t.Parallel()
		h := newHandover(t, world, waitingTool)
		lines := h.start(t)
		await(t, lines, "ready")
		for range 3 { // other commands end at the second signal
			h.signal(t, syscall.SIGINT, true)
			await(t, lines, "INT")
		}
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
			h.signal(t, sig, false)
		}
		h.signal(t, syscall.SIGTERM, false)
		h.end(t, lines, 7, "TERM", keptEntry)
	})

	t.Run("a tool that is killed", func(t *testing.T) {
		t.Parallel()
		h := newHandover(t, world, waitingTool)
		lines := h.start(t)
		pid, err := strconv.Atoi(await(t, lines, "ready"))
		testenv.Must(t, err)
		testenv.Must(t, syscall.Kill(pid, syscall.SIGKILL))
		h.end(t, lines, 128+int(syscall.SIGKILL), keptEntry)
	})

	t.Run("no tool is started after a signal", func(t *testing.T) {
		t.Parallel()
		stalled := modtest.New(t, modtest.Txtar(initWorld))
		stalled.SetFaults(modtest.Fault{Path: "/v1/modules/", Delay: time.Hour})
		h := newHandover(t, stalled, waitingTool)
		lines := h.start(t)
		<-stalled.Requested()
		h.signal(t, syscall.SIGTERM, false)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "ready") {
				t.Error("the tool was started")
			}
		}
		if _ = h.cmd.Wait(); h.cmd.ProcessState.ExitCode() != exitInterrupted {
			t.Errorf("Cotter ended with %v", h.cmd.ProcessState)
		}
	})
}
