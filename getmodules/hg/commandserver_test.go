package hg_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// commandServer is an hg process that makes the repositories of all tests. Starting a
// process for each command would take most of the tests' time.
type commandServer struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   io.Reader
}

// startServer starts the server once. The server ends when its input is closed, which
// happens at the end of the test process.
var startServer = sync.OnceValues(func() (*commandServer, error) {
	s := &commandServer{cmd: exec.Command("hg", "serve", "--cmdserver", "pipe")}
	s.cmd.Env = fixtureEnv()
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, _, err = s.next() // the greeting
	return s, err
})

// run runs a command and returns what it printed.
func (s *commandServer) run(args ...string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := strings.Join(args, "\x00")
	request := binary.BigEndian.AppendUint32([]byte("runcommand\n"), uint32(len(list)))
	if _, err := s.stdin.Write(append(request, list...)); err != nil {
		return "", err
	}
	var printed strings.Builder
	for {
		channel, message, err := s.next()
		if err != nil {
			return printed.String(), err
		}
		switch channel {
		case 'o', 'e':
			printed.Write(message)
		case 'r':
			if status := binary.BigEndian.Uint32(message); status != 0 {
				return printed.String(), fmt.Errorf("exit status %d", status)
			}
			return printed.String(), nil
		default: // hg asks for input
			return printed.String(), fmt.Errorf("message on channel %q", channel)
		}
	}
}

func (s *commandServer) next() (channel byte, message []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(s.out, head[:]); err != nil {
		return 0, nil, err
	}
	message = make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err = io.ReadFull(s.out, message)
	return head[0], message, err
}
