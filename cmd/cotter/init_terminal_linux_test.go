package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// askingTool is a tofu that asks a question on the terminal, and ends when it is
// interrupted.
const askingTool = `#!/bin/sh
echo '# no modules' > .terraform.lock.hcl
test -t 0 && test -t 1 && test -t 2 && echo 'all are terminals'
echo 'migrate?'
read answer
echo "the answer is $answer"
trap 'echo INT; kill $holding; exit 3' INT
cat hold > waited 2>&1 &
holding=$!
echo ready
while :; do wait $holding; done
`

// TestInitTerminal runs the tool in a terminal: it can ask questions there, and Ctrl-C
// reaches it once.
func TestInitTerminal(t *testing.T) {
	t.Parallel()
	h := newHandover(t, modtest.New(t, modtest.Txtar(initWorld)), askingTool)
	person, terminal := openTerminal(t)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = terminal, terminal, terminal
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testenv.Must(t, h.cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) })
	testenv.Must(t, terminal.Close())
	lines := bufio.NewScanner(person)
	say := func(text string) {
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	await(t, lines, "all are terminals")
	await(t, lines, "migrate?")
	say("yes\n")
	if answer := await(t, lines, "the answer is "); answer != "yes" {
		t.Errorf("the tool got the answer %q", answer)
	}
	await(t, lines, "ready")
	const interrupt = "\x03" // Ctrl-C
	say(interrupt)
	interrupts := 0
	for lines.Scan() { // until all processes have closed the terminal
		interrupts += strings.Count(lines.Text(), "INT")
	}
	if interrupts != 1 {
		t.Errorf("the tool was interrupted %d times", interrupts)
	}
	h.end(t, lines, 3)
}

// openTerminal opens a pseudo terminal, and returns the person's side and the programs'
// side.
func openTerminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	testenv.Must(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	testenv.Must(t, err)
	return person, terminal
}
