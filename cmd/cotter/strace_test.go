//go:build linux

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// tracedCalls are the system calls that change files, and the calls that make changes
// durable.
const tracedCalls = "openat,creat,write,pwrite64,writev,copy_file_range,sendfile,ioctl,ftruncate," + renamingCalls +
	",link,linkat,symlinkat,mkdirat,fsync,fdatasync,syncfs,sync"

const renamingCalls = "rename,renameat,renameat2,unlink,unlinkat,rmdir"

// trace runs a command under strace until it ends, and returns the lines that strace wrote.
// If stopped is not nil, the command is stopped after each call of renamingCalls, stopped is
// called with strace's line, and the command continues when stopped returns.
func trace(t *testing.T, cmd *exec.Cmd, stopped func(line string)) []string {
	t.Helper()
	needCommands(t, "strace")
	args := []string{"-f", "-y", "-s", "0", "-o", "/proc/self/fd/3", "-e", "trace=" + tracedCalls, "-e", "signal=SIGSTOP"}
	if stopped == nil {
		args = append(args, "--seccomp-bpf") // cannot be combined with the options below
	} else {
		args[7] = "trace=" + renamingCalls
		args = append(args, "-e", "inject="+renamingCalls+":signal=SIGSTOP")
	}
	reader, writer, err := os.Pipe()
	testenv.Must(t, err)
	defer reader.Close()
	var output bytes.Buffer
	strace := exec.Command("strace", append(args, cmd.Args...)...)
	strace.Dir, strace.Env, strace.ExtraFiles = cmd.Dir, cmd.Env, []*os.File{writer}
	strace.Stdout, strace.Stderr = &output, &output
	testenv.Must(t, strace.Start())
	writer.Close()
	lines := followTrace(t, reader, stopped)
	if err := strace.Wait(); err != nil {
		if strings.Contains(output.String(), "PTRACE") || strings.Contains(output.String(), "ptrace") {
			t.Skipf("strace may not trace here: %s", &output)
		}
		t.Fatalf("%v: %v\n%s", cmd.Args, err, &output)
	}
	return lines
}

// tracedProcess is a process under strace. strace reports a stop once for each thread; after
// the last report, no thread of the process runs any more.
type tracedProcess struct {
	id      int
	cause   string // the call after which the process is stopped
	stopped int    // the number of stopped threads
}

// followTrace reads the lines that strace writes.
func followTrace(t *testing.T, r *os.File, stopped func(line string)) []string {
	t.Helper()
	var lines []string
	last := make(map[int]string) // the last call of each thread
	threads := make(map[int]*tracedProcess)
	processes := make(map[int]*tracedProcess)
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		line := scanner.Text()
		lines = append(lines, line)
		number, text, _ := strings.Cut(line, " ")
		thread, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("strace wrote %q", line)
		}
		if threads[thread] == nil {
			id := processOf(thread)
			if processes[id] == nil {
				processes[id] = &tracedProcess{id: id}
			}
			threads[thread] = processes[id]
		}
		p := threads[thread]
		switch text = strings.TrimSpace(text); {
		case strings.HasPrefix(text, "--- SIGSTOP"):
			p.cause = last[thread]
		case strings.HasPrefix(text, "--- stopped by"):
			p.stopped++
		case strings.HasPrefix(text, "<..."):
			last[thread] += text
		default:
			last[thread] = text
		}
		if p.stopped > 0 && p.stopped >= p.threads() {
			p.stopped = 0
			stopped(p.cause)
			if err := syscall.Kill(p.id, syscall.SIGCONT); err != nil {
				t.Errorf("the process %d does not go on: %v", p.id, err)
			}
		}
	}
	return lines
}

// processOf returns the process that a thread belongs to. If the process has ended, it
// returns the thread itself.
func processOf(thread int) int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	if err != nil {
		return thread
	}
	_, rest, _ := strings.Cut(string(status), "\nTgid:\t")
	number, _, _ := strings.Cut(rest, "\n")
	id, err := strconv.Atoi(number)
	if err != nil {
		return thread
	}
	return id
}

func (p *tracedProcess) threads() int {
	list, err := os.ReadDir("/proc/" + strconv.Itoa(p.id) + "/task")
	if err != nil {
		return 1
	}
	return len(list)
}

// systemCall is a system call that succeeded. Files are identified by their paths.
type systemCall struct {
	name       string
	paths      []string // the paths among the arguments, in order
	begin, end int      // line numbers
}

var (
	beginOfCall = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	restOfCall  = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	resultOf    = regexp.MustCompile(`^(.*)\) += (\S+)`)
	// pathArgument matches a descriptor, with or without a name in its directory, or a name
	// without a descriptor.
	pathArgument = regexp.MustCompile(`(?:(?:AT_FDCWD|\b\d+)<([^>]*)>)(?:, "([^"]*)")?|"([^"]*)"`)
)

// parseTrace parses the lines of strace -f -y. Relative names are resolved in cwd.
func parseTrace(lines []string, cwd string) []systemCall {
	type begun struct {
		name, args string
		line       int
	}
	var calls []systemCall
	pending := make(map[string]begun)
	for i, line := range lines {
		var c begun
		var thread string
		if m := beginOfCall.FindStringSubmatch(line); m != nil {
			thread, c = m[1], begun{m[2], m[3], i}
		} else if m := restOfCall.FindStringSubmatch(line); m != nil {
			thread, c = m[1], pending[m[1]]
			c.args += m[2]
		} else {
			continue
		}
		if args, unfinished := strings.CutSuffix(c.args, "<unfinished ...>"); unfinished {
			c.args = args
			pending[thread] = c
			continue
		}
		m := resultOf.FindStringSubmatch(c.args)
		if m == nil || strings.HasPrefix(m[2], "-1") || m[2] == "?" {
			continue
		}
		paths := pathsIn(m[1], cwd)
		if c.name == "sendfile" {
			slices.Reverse(paths) // the only call that names the target first
		}
		calls = append(calls, systemCall{c.name, paths, c.line, i})
	}
	return calls
}

func pathsIn(args, cwd string) []string {
	var paths []string
	for _, m := range pathArgument.FindAllStringSubmatch(args, -1) {
		dir, name := m[1], m[2]
		if dir == "" {
			dir, name = cwd, m[3]
		}
		if filepath.IsAbs(name) {
			dir = ""
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}
