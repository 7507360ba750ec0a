package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	diskstep "github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/testenv"
)

// workerVariable makes a child process a worker.
const workerVariable = "COTTER_TEST_WORKER"

// workers run the command in processes that each run one command after another.
// The start of a process takes longer than most of what the tests let it do, so
// tests use them wherever a process of its own is not what they are about.
//
// A command in a worker is one of a process of its own in all but this: nothing is
// kept from its standard input, and what kills or limits the process has to start
// one of its own.
type workers struct {
	start func() *exec.Cmd
	// Once a command runs for so long, its worker is killed, if it is not 0.
	deadline time.Duration
	kill     func(*exec.Cmd) error

	mu   sync.Mutex
	idle map[string][]*worker // by what they read only once
}

// warm are the workers of all tests that need none of their own.
var warm = &workers{start: func() *exec.Cmd { return exec.Command(cotterBinary) }}

// endIdle ends the workers that have nothing to do.
func (w *workers) endIdle() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, idle := range w.idle {
		for _, at := range idle {
			errs = append(errs, at.end())
		}
	}
	w.idle = nil
	return errors.Join(errs...)
}

// readOnce returns what a process reads only once of an environment: the certificates
// that it trusts, and its proxies.
func readOnce(env []string) string {
	values := make(map[string]string)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "SSL_CERT_FILE":
			values[name] = certificates(value)
		case "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy":
			values[name] = value
		}
	}
	return fmt.Sprint(values) // which sorts the names
}

// certificates returns what a file of certificates has, which no test changes.
func certificates(name string) string {
	text, ok := certificateFiles.Load(name)
	if !ok {
		read, err := os.ReadFile(name)
		text, _ = certificateFiles.LoadOrStore(name, fmt.Sprint(string(read), err != nil))
	}
	return text.(string)
}

var certificateFiles sync.Map // by their names

// workerCommand is a command line and where it runs.
type workerCommand struct {
	Dir       string
	Env, Args []string
}

// workerEnd is how a command ended.
type workerEnd struct {
	Status              int
	Stdout, Stderr, Out []byte // what it printed; Out has both, in order
	Memory              int64  // the peak of its worker so far, in bytes
}

// statusFailure is the error of a command that ended with another status than 0.
type statusFailure int

func (s statusFailure) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// run runs a command as [exec.Cmd.CombinedOutput] does. The error of another status
// than 0 is a statusFailure.
func (w *workers) run(dir string, env []string, args ...string) (string, error) {
	end, err := w.do(workerCommand{dir, env, args})
	if err == nil && end.Status != 0 {
		err = statusFailure(end.Status)
	}
	return string(end.Out), err
}

// output runs what the fields of a command describe that is not started.
func (w *workers) output(cmd *exec.Cmd) (string, error) {
	return w.run(cmd.Dir, cmd.Env, cmd.Args[1:]...)
}

// outputs is output with standard output and standard error apart.
func (w *workers) outputs(cmd *exec.Cmd) (stdout, stderr string, err error) {
	end, err := w.do(workerCommand{cmd.Dir, cmd.Env, cmd.Args[1:]})
	if err == nil && end.Status != 0 {
		err = statusFailure(end.Status)
	}
	return string(end.Stdout), string(end.Stderr), err
}

// do runs a command. The error is that of its worker; context.DeadlineExceeded if it
// was killed.
func (w *workers) do(c workerCommand) (workerEnd, error) {
	at, err := w.take(c.Env)
	if err != nil {
		return workerEnd{}, err
	}
	inTime := func() bool { return true }
	if w.deadline > 0 {
		inTime = time.AfterFunc(w.deadline, func() { _ = w.kill(at.cmd) }).Stop // it ends at once otherwise
	}
	end, err := at.run(c)
	switch {
	case !inTime():
		return end, errors.Join(context.DeadlineExceeded, err)
	case err != nil:
		return end, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle == nil {
		w.idle = make(map[string][]*worker)
	}
	w.idle[at.readOnce] = append(w.idle[at.readOnce], at)
	return end, nil
}

// take returns a worker that has nothing to do, or starts one.
func (w *workers) take(env []string) (*worker, error) {
	key := readOnce(env)
	w.mu.Lock()
	defer w.mu.Unlock()
	if idle := w.idle[key]; len(idle) > 0 {
		w.idle[key] = idle[:len(idle)-1]
		return idle[len(idle)-1], nil
	}
	at := &worker{cmd: w.start(), readOnce: key}
	at.cmd.Env = append(append(testenv.Variables(), env...), workerVariable+"=1")
	at.cmd.Stderr = &at.stderr
	commands, err := at.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	ends, err := at.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	at.commands, at.send, at.receive = commands, json.NewEncoder(commands), json.NewDecoder(ends)
	return at, at.cmd.Start()
}

// worker is a process.
type worker struct {
	cmd      *exec.Cmd
	readOnce string
	commands io.Closer
	send     *json.Encoder
	receive  *json.Decoder
	stderr   bytes.Buffer
}

// run runs a command. The error is that of the worker, which is at its end then.
func (w *worker) run(c workerCommand) (workerEnd, error) {
	var end workerEnd
	err := w.send.Encode(c)
	if err == nil {
		err = w.receive.Decode(&end)
	}
	if err != nil {
		return end, errors.Join(fmt.Errorf("%q: %w", c.Args, err), w.end())
	}
	return end, nil
}

// end lets the process end.
func (w *worker) end() error {
	_ = w.commands.Close() // it reads the end of its input
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, &w.stderr)
	}
	return nil
}

// work is main of a worker.
func work() error {
	home, err := os.Getwd()
	if err != nil {
		return err
	}
	receive, send := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if os.Stdin, err = os.Open(os.DevNull); err != nil {
		return err
	}
	for {
		var c workerCommand
		if err := receive.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		end, err := c.run()
		if err := errors.Join(err, os.Chdir(home), send.Encode(end)); err != nil {
			return err
		}
	}
}

// run runs the command in this process.
func (c workerCommand) run() (workerEnd, error) {
	os.Clearenv()
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		if err := os.Setenv(name, value); err != nil {
			return workerEnd{}, err
		}
	}
	if err := os.Chdir(c.Dir); err != nil {
		return workerEnd{}, err
	}
	diskstep.SetHook(nil)
	watchSteps()
	var both, stdout, stderr lockedBuffer
	status := run(context.Background(), append([]string{"cotter"}, c.Args...), io.MultiWriter(&stdout, &both), io.MultiWriter(&stderr, &both))
	return workerEnd{status, stdout.text.Bytes(), stderr.text.Bytes(), both.text.Bytes(), peakMemory()}, nil
}

// lockedBuffer is written to by goroutines, as a pipe can be.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}
