package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// terminal is a pseudo-terminal whose screen a test can read.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File // the side that a program uses as its terminal
	width  int

	mu     sync.Mutex
	text   bytes.Buffer
	news   chan struct{}
	closed chan struct{}
}

func newTerminal(t *testing.T, width int) *terminal {
	t.Helper()
	master, slave := openTerminal(t)
	testenv.Must(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)}))
	term := &terminal{t: t, master: master, slave: slave, width: width, news: make(chan struct{}, 1), closed: make(chan struct{})}
	go term.read()
	return term
}

// read collects the output of programs until all of them have closed the terminal.
func (term *terminal) read() {
	defer close(term.closed)
	buffer := make([]byte, 4096)
	for {
		n, err := term.master.Read(buffer)
		term.mu.Lock()
		term.text.Write(buffer[:n])
		term.mu.Unlock()
		select {
		case term.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// await waits until a pattern has been written.
func (term *terminal) await(pattern string) {
	term.t.Helper()
	want := regexp.MustCompile(pattern)
	deadline := time.After(time.Minute)
	for {
		term.mu.Lock()
		text := term.text.String()
		term.mu.Unlock()
		if want.MatchString(text) {
			return
		}
		select {
		case <-term.news:
		case <-term.closed:
			term.t.Fatalf("the terminal was closed, and never had %q:\n%q", pattern, text)
		case <-deadline:
			term.t.Fatalf("the terminal does not have %q:\n%q", pattern, text)
		}
	}
}

// end closes the terminal and returns all its output.
func (term *terminal) end() string {
	term.t.Helper()
	if err := term.slave.Close(); err != nil {
		term.t.Error(err)
	}
	<-term.closed
	if err := term.master.Close(); err != nil {
		term.t.Error(err)
	}
	return term.text.String()
}

var escape = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

// screen returns what a terminal of the given width shows after a text was written to it.
// The test fails if a line is wrapped, or if the text has an unknown escape sequence.
func screen(t *testing.T, text string, width int) []string {
	t.Helper()
	lines, row, column := [][]rune{nil}, 0, 0
	for text != "" {
		if m := escape.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			switch n := 1; m[2] {
			case "A":
				_, _ = fmt.Sscan(m[1], &n)
				row = max(row-n, 0)
			case "J":
				lines = lines[:row+1]
				lines[row] = lines[row][:min(column, len(lines[row]))]
			case "m":
			default:
				t.Fatalf("the escape %q is not known", m[0])
			}
			continue
		}
		r := []rune(text)[0]
		text = strings.TrimPrefix(text, string(r))
		switch r {
		case '\r':
			column = 0
		case '\n':
			if row++; row == len(lines) {
				lines = append(lines, nil)
			}
		default:
			for len(lines[row]) <= column {
				lines[row] = append(lines[row], ' ')
			}
			lines[row][column] = r
			if column++; column > width {
				t.Fatalf("a line is longer than %d columns: %q", width, string(lines[row]))
			}
		}
	}
	var shown []string
	for _, line := range lines {
		shown = append(shown, strings.TrimRight(string(line), " "))
	}
	return shown
}

// slowWorld has an archive that starts to arrive only after a delay.
func slowWorld(t *testing.T, delay time.Duration) *modtest.World {
	t.Helper()
	return modtest.NewWith(t, modtest.Txtar("-- archives/a-module-with-a-long-name-for-narrow-terminals.zip/main.tf --\n# logs\n"), modtest.Options{
		Faults: []modtest.Fault{{Path: "/archives/", Delay: delay}},
	})
}

// startOn installs from the slow archive.
func startOn(t *testing.T, term *terminal, world *modtest.World) (*exec.Cmd, *site) {
	t.Helper()
	s := newSite(t, world, "TERM=xterm")
	s.write(t, "main.tf", "module \"logs\" {\n  source = \""+world.ArchiveSource("a-module-with-a-long-name-for-narrow-terminals.zip", "")+"\"\n}\n")
	command := s.command("install")
	command.Stdin, command.Stdout, command.Stderr = term.slave, term.slave, term.slave
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testenv.Must(t, command.Start())
	return command, s
}

// TestTerminal checks that the terminal shows a line for each package that is being fetched
// and one for the total, and in the end only the result.
func TestTerminal(t *testing.T) {
	t.Parallel()
	world := slowWorld(t, 500*time.Millisecond)
	for width, line := range map[int]string{
		40:  `\n127\S+…\S+als\.zip +0 B +(fetching|fetch 0 B/s) *\n`,
		80:  `\n127\S+…\S+-narrow-terminals\.zip +0 B  .* fetching *\n`,
		120: `\n127\S+/archives/a-module-with-a-long-name-for-narrow-terminals\.zip +0 B  .* fetching *\n`,
	} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			term := newTerminal(t, width)
			command, _ := startOn(t, term, world)
			err := command.Wait()
			text := term.end()
			if err != nil {
				t.Fatalf("%s\n%s", err, text)
			}
			for _, want := range []string{line, `\n0 fetched, 1 in progress, \d+\.\d+ s\n`} {
				if !regexp.MustCompile(want).MatchString("\n" + strings.ReplaceAll(text, "\r", "")) {
					t.Errorf("no line matches %q:\n%q", want, text)
				}
			}
			// The result may take several lines of a narrow terminal.
			above := screen(t, text[:strings.LastIndex(text, "added ")], width)
			if got := strings.Join(above, ""); got != "" {
				t.Errorf("something is left above the result: %q\n%q", got, text)
			}
		})
	}
}

// TestTerminalInterrupted checks that Ctrl-C leaves one line on the terminal and the project
// unchanged.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	term := newTerminal(t, 80)
	command, s := startOn(t, term, slowWorld(t, time.Minute))
	term.await(`in progress`)
	if _, err := io.WriteString(term.master, "\x03"); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := command.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("the command ended with %v, want exit status %d", err, exitInterrupted)
	}
	text := term.end()
	if got := strings.Join(screen(t, text, 80), "\n"); got != "Interrupted; nothing was changed.\n" {
		t.Errorf("the screen has %q:\n%q", got, text)
	}
	for _, name := range []string{".terraform.lock.hcl", ".terraform/modules/modules.json"} {
		if _, err := os.Stat(s.locate(name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
}

// TestNarrowTables checks that tables, lists, errors and warnings break lines only between words on a
// terminal of 80 columns.
func TestNarrowTables(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar("-- registry/acme/a-module-with-a-long-name/aws/5.1.0/main.tf --\n-- registry/acme/a-module-with-a-long-name/aws/5.2.0/main.tf --\nvariable \"a_required_argument_of_this_version\" {\n}\n"))
	s := newSite(t, world, "TERM=xterm")
	configure := func(version string) {
		s.write(t, "configuration-of-the-network.tf", "module \"network_of_production\" {\n  source  = \"MODTEST_HOST/acme/a-module-with-a-long-name/aws\"\n  version = \""+version+"\"\n}\n")
	}
	configure("5.1.0")
	for _, step := range []struct {
		args, want string
		version    string // the new version argument of the call, if it changes
		fails      bool
	}{
		{args: "install", want: "added  network_of_production  127.*/acme/a-module-with-a-long-name/aws\n    5.1.0\n"},
		{args: "outdated", want: "^network_of_production  127.*/acme/a-module-with-a-long-name/aws\n    current 5.1.0, allowed 5.1.0, latest 5.2.0\n    \\(configuration-of-the-network.tf:1\\)\n$"},
		{args: "outdated --recursive .", want: "^127.*/acme/a-module-with-a-long-name/aws\n    current 5.1.0, allowed 5.1.0, latest 5.2.0\n    \\(configuration-of-the-network.tf:1\\)\nNewer versions"},
		{version: "5.2.0", args: "install", want: "changed  network_of_production  5.1.0 -> 5.2.0, because \"5.2.0\"\n    \\(configuration-of-the-network.tf:3\\) excludes 5.1.0\n    BREAKING: variable \"a_required_argument_of_this_version\" added: required\n      any, which configuration-of-the-network.tf:1 does not set\n"},
		{version: "5.1.0", args: "install --locked", fails: true, want: "^Error: .*\n"},
		{version: "~> 9.0", args: "install", fails: true, want: "^Error: module network_of_production \\(configuration-of-the-network.tf:3\\):\n  127.*: no version meets the\n  constraint"},
	} {
		if step.version != "" {
			configure(step.version)
		}
		term := newTerminal(t, 80)
		command := s.command(step.args)
		command.Stdin, command.Stdout, command.Stderr = term.slave, term.slave, term.slave
		err := command.Run()
		shown := strings.ReplaceAll(term.end(), "\r", "")
		if i := strings.LastIndex(shown, "\x1b[J"); i >= 0 { // the live lines end there
			shown = shown[i+len("\x1b[J"):]
		}
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v\n%s", step.args, err, shown)
		}
		if !regexp.MustCompile(step.want).MatchString(shown) {
			t.Errorf("cotter %s prints nothing that matches %q:\n%s", step.args, step.want, shown)
		}
		for line := range strings.Lines(shown) {
			if line = strings.TrimSuffix(line, "\n"); view.ColumnsOf(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("cotter %s prints a line of %d columns:\n%s", step.args, view.ColumnsOf(line), line)
			}
		}
	}
}
