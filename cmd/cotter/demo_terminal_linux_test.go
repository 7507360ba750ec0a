package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestDemoTerminal runs the demo in a terminal, and the commands that it prints in a second
// terminal while the demo's servers are running. Enter ends the demo.
func TestDemoTerminal(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	person, terminal := openTerminal(t)
	demo := exec.Command(cotterBinary, "demo")
	demo.Env = append(os.Environ(), "HOME="+t.TempDir(), "TERM=xterm", "CI=", "NO_COLOR=1")
	demo.Stdin, demo.Stdout, demo.Stderr = terminal, terminal, terminal
	demo.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testenv.Must(t, demo.Start())
	t.Cleanup(func() { _ = syscall.Kill(-demo.Process.Pid, syscall.SIGKILL) })
	testenv.Must(t, terminal.Close())
	var text strings.Builder
	for lines := bufio.NewScanner(person); lines.Scan(); {
		line := strings.TrimRight(lines.Text(), "\r")
		text.WriteString(line + "\n")
		if strings.HasPrefix(line, "  rm -rf ") {
			break
		}
	}
	commands := printedCommands(text.String())
	if len(commands) == 0 {
		t.Fatalf("the demo printed no commands:\n%s", &text)
	}
	removal := strings.Fields(commands[len(commands)-1])
	t.Cleanup(func() { _ = os.RemoveAll(removal[2]) })
	var served []string
	for _, command := range commands {
		if strings.HasPrefix(command, ".") || strings.HasPrefix(command, "cd ") || strings.HasPrefix(command, "cotter verify --remote") || strings.HasPrefix(command, "cotter outdated") {
			served = append(served, command)
		}
	}
	statuses := runPrinted(t, served)
	if statuses["cotter verify --remote"] != "1" || statuses["cotter outdated"] != "0" {
		t.Errorf("statuses of the printed commands: %v, want 1 for verify --remote", statuses)
	}
	if _, err := person.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if err := demo.Wait(); err != nil {
		t.Errorf("the demo ended with %v", err)
	}
}
