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
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

// workerVariable makes a child process a worker.
const workerVariable = "COTTER_TEST_WORKER"

// workers run commands in processes that each run one command after another. Starting a
// process takes longer than most commands of the tests, so tests use workers unless they
// need a separate process.
//
// A command in a worker behaves like a separate process with these exceptions: it gets no
// standard input, and a test that kills or limits the process has to start its own.
type workers struct {
	start func() *exec.Cmd
	// deadline is the time after which the worker of a command is killed with kill; 0 means
	// no limit.
	deadline time.Duration
	kill     func(*exec.Cmd) error
	// measured says that the peak memory of commands counts.
	measured bool

	mu   sync.Mutex
	idle map[string][]*worker // by the result of readOnce
}

// warm are the workers that all tests share, except for those that need their own.
var warm = &workers{start: func() *exec.Cmd { return exec.Command(cotterBinary) }}

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

// readOnce returns the parts of an environment that a process reads only once: its trusted
// certificates and its proxies.
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
	return fmt.Sprint(values) // prints the names in sorted order
}

// certificates returns the content of a file of certificates. Tests do not change such
// files.
func certificates(name string) string {
	text, ok := certificateFiles.Load(name)
	if !ok {
		read, err := os.ReadFile(name)
		text, _ = certificateFiles.LoadOrStore(name, fmt.Sprint(string(read), err != nil))
	}
	return text.(string)
}

var certificateFiles sync.Map // their contents by name

// workerCommand is a command line with its directory and environment.
type workerCommand struct {
	Dir       string
	Env, Args []string
	// Measured has the worker begin without the garbage of earlier commands, which would count as this one's.
	Measured bool
}

type workerEnd struct {
	Status              int
	Stdout, Stderr, Out []byte // the output; Out has both, in order
	Memory              int64  // the peak memory of its worker so far, in bytes
}

// statusFailure is the error of a command that ended with a status other than 0.
type statusFailure int

func (s statusFailure) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// exitCode returns the exit status of a command that has ended, or -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	var status statusFailure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// run runs a command like [exec.Cmd.CombinedOutput]. If the status is not 0, the error is a
// statusFailure.
func (w *workers) run(dir string, env []string, args ...string) (string, error) {
	end, err := w.do(workerCommand{Dir: dir, Env: env, Args: args})
	if err == nil && end.Status != 0 {
		err = statusFailure(end.Status)
	}
	return string(end.Out), err
}

// outputs runs a command that is described by an exec.Cmd, which is not started.
func (w *workers) outputs(cmd *exec.Cmd) (stdout, stderr string, err error) {
	end, err := w.do(workerCommand{Dir: cmd.Dir, Env: cmd.Env, Args: cmd.Args[1:]})
	if err == nil && end.Status != 0 {
		err = statusFailure(end.Status)
	}
	return string(end.Stdout), string(end.Stderr), err
}

// do runs a command. The error is that of its worker, or context.DeadlineExceeded if the
// worker was killed.
func (w *workers) do(c workerCommand) (workerEnd, error) {
	at, err := w.take(c.Env)
	if err != nil {
		return workerEnd{}, err
	}
	c.Measured = w.measured
	inTime := func() bool { return true }
	if w.deadline > 0 {
		inTime = time.AfterFunc(w.deadline, func() { _ = w.kill(at.cmd) }).Stop // if the timer fires, the worker is killed and run returns
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

// take returns an idle worker, or starts one.
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

// worker is a process that runs commands.
type worker struct {
	cmd      *exec.Cmd
	readOnce string
	commands io.Closer
	send     *json.Encoder
	receive  *json.Decoder
	stderr   bytes.Buffer
}

// run runs a command. If it returns an error, the worker has ended.
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

func (w *worker) end() error {
	_ = w.commands.Close() // the worker stops at the end of its input
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, &w.stderr)
	}
	return nil
}

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

// testStallTimeout is the name of a variable for commands in workers, which sets how long a server may send nothing.
const testStallTimeout = "TEST_STALL_TIMEOUT"

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
	atomicfile.SetStepHook(nil)
	watchSteps()
	stallTimeout, _ = time.ParseDuration(os.Getenv(testStallTimeout))
	if c.Measured {
		runtime.GC()
	}
	var both, stdout, stderr lockedBuffer
	status := run(context.Background(), append([]string{"cotter"}, c.Args...), io.MultiWriter(&stdout, &both), io.MultiWriter(&stderr, &both))
	return workerEnd{status, stdout.text.Bytes(), stderr.text.Bytes(), both.text.Bytes(), peakMemory()}, nil
}

// lockedBuffer is a buffer that several goroutines can write to, like a pipe.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}
