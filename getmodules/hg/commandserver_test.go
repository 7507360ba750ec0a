package hg_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// server is an hg that runs one command after another, for all repositories of the tests: each start of hg takes half a
// second. Mercurial calls it a command server.
type server struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

var commandServer = sync.OnceValues(func() (*server, error) {
	s := &server{cmd: exec.Command("hg", "serve", "--cmdserver", "pipe", "--config", "ui.interactive=no")}
	s.cmd.Env = fixtureEnv()
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	running = s
	_, _, err = s.read() // its greeting
	return s, err
})

// running is the server of commandServer if there is one.
var running *server

// TestMain ends the server, whose input is then at its end.
func TestMain(m *testing.M) {
	status := testenv.Prepare(m).Run()
	if running != nil {
		_ = running.in.Close()
		_ = running.cmd.Wait() // the tests have seen the results of all commands
	}
	os.Exit(status)
}

// read returns the next message, and the channel that it is on: output, errors or the result.
func (s *server) read() (channel byte, message []byte, err error) {
	if channel, err = s.out.ReadByte(); err != nil {
		return 0, nil, err
	}
	var size uint32
	if err := binary.Read(s.out, binary.BigEndian, &size); err != nil {
		return 0, nil, err
	}
	message = make([]byte, size)
	_, err = io.ReadFull(s.out, message)
	return channel, message, err
}

// run runs a command, and returns its output and errors.
func (s *server) run(args []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := strings.Join(args, "\x00")
	request := binary.BigEndian.AppendUint32([]byte("runcommand\n"), uint32(len(list))) //nolint:gosec // arguments are short
	if _, err := s.in.Write(append(request, list...)); err != nil {
		return "", err
	}
	var out strings.Builder
	for {
		switch channel, message, err := s.read(); {
		case err != nil:
			return out.String(), err
		case channel == 'o', channel == 'e':
			out.Write(message)
		case channel == 'r':
			if status := binary.BigEndian.Uint32(message); status != 0 {
				err = fmt.Errorf("exit status %d", status)
			}
			return out.String(), err
		case channel >= 'A' && channel <= 'Z':
			return out.String(), fmt.Errorf("it wants input on the channel %q", channel)
		}
	}
}
