package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

type Command struct {
	Args []string
	// Repo is the git directory; "" means none. Git does not check its owner: a repository that was found
	// must be opened with package worktree.
	Repo string
	// WorkTree is the absolute path of the checkout of Repo; "" means none. Commands with one send no requests.
	WorkTree string
	// IndexFile is used instead of that of Repo; "" means that.
	IndexFile string
	// Config are settings ("NAME=value") that take precedence over all configuration.
	Config []string
	// Input is for commands without pipes.
	Input string
	// Network gives access to the network and to the user's configuration.
	Network *Network
	// Secrets are removed from messages.
	Secrets []string
}

// Network describes what a command may do outside of its repository.
type Network struct {
	// Protocols are allowed, as in GIT_ALLOW_PROTOCOL, by which the user can restrict them further.
	Protocols []string
	// Direct are allowed only if the user's own configuration points to them (url.insteadOf). If the
	// user sets GIT_ALLOW_PROTOCOL, git does not distinguish them.
	Direct []string
	// ConfigFile is an absolute path. It is for what must not appear in arguments.
	ConfigFile string
	// Secrets are variables ("NAME=value") that ConfigFile refers to.
	Secrets []string
	// Remote is the address of the repository, as it is configured: parts of the user's configuration may apply only
	// to it. "" means none.
	Remote string
	// SSHKeyFile is offered by ssh; "" means the user's own keys.
	SSHKeyFile string
	// PacketTrace is an absolute path to which git appends the messages of the protocol, without
	// credentials; "" means none.
	PacketTrace string
	// Floor is the minimum rate of an http server; nil means none. GIT_HTTP_LOW_SPEED_LIMIT and _TIME
	// take precedence.
	Floor *httpx.Floor
	// Idle is how long git may write nothing to its standard error; 0 means no limit.
	Idle time.Duration
}

var ErrIdle = errors.New("no sign of life from git or the server")

var ErrOutput = errors.New("git wrote too much")

// Run ignores the output. Errors are [*Error], or wrap [ErrNoGit].
func (g *Git) Run(ctx context.Context, c Command) error {
	_, err := g.Output(ctx, c, maxProbeOutput)
	return err
}

// Output returns the standard output. The error wraps [ErrOutput] if it is longer than limit bytes.
func (g *Git) Output(ctx context.Context, c Command, limit int) ([]byte, error) {
	p, err := g.findToRun(ctx, c)
	if err != nil {
		return nil, err
	}
	return g.output(ctx, p, c, limit)
}

func (g *Git) output(ctx context.Context, p program, c Command, limit int) ([]byte, error) {
	proc := g.prepare(ctx, p, c)
	if c.Input != "" {
		proc.cmd.Stdin = strings.NewReader(c.Input)
	}
	return proc.output(limit)
}

func (p *Process) output(limit int) ([]byte, error) {
	out := limitedBuffer{limit: limit, full: func() { p.cancel(fmt.Errorf("%w: over %d bytes", ErrOutput, limit)) }}
	p.cmd.Stdout = &out
	if err := p.start(); err != nil {
		return nil, err
	}
	if err := p.Wait(); err != nil {
		return nil, err
	}
	return out.buf.Bytes(), nil
}

// Start starts a command with pipes. The caller must call Wait if there is no error.
func (g *Git) Start(ctx context.Context, c Command) (*Process, error) {
	found, err := g.findToRun(ctx, c)
	if err != nil {
		return nil, err
	}
	p := g.prepare(ctx, found, c)
	return p, p.startWithPipes()
}

func (p *Process) startWithPipes() (err error) {
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		return p.failure(err)
	}
	if p.Stdout, err = p.cmd.StdoutPipe(); err != nil {
		return p.failure(err)
	}
	return p.start()
}

type limitedBuffer struct {
	buf   bytes.Buffer
	limit int
	full  func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.limit {
		b.full()
		return 0, io.ErrShortWrite
	}
	return b.buf.Write(p)
}

// SplitNames splits the output of an option -z.
func SplitNames(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
}

// killDelay is how long a canceled git may remove its temporary packs, and how long a daemon that a
// helper left running may keep our pipes open.
const killDelay = 2 * time.Second

type Process struct {
	// Stdin and Stdout are only set by [Git.Start].
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd     *exec.Cmd
	program string // "" for git
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stderr  *sanitize.Tail
	command Command
	traced  func(error) // is told the end of the run
	enough  atomic.Bool // no more output is needed, so the end is no failure
	gone    func()      // for procgroup, when git has ended
	ended   sync.Once
	err     error
}

func (g *Git) prepare(ctx context.Context, found program, c Command) *Process {
	op := trace.Operation{Kind: "git", Name: c.Args[0]}
	p := g.newProcess(ctx, op, c, append([]string{found.path}, append(configArgs(found, c), c.Args...)...))
	if c.Network != nil && c.Network.Idle > 0 {
		p.stderr.Watch(c.Network.Idle, func() { p.cancel(ErrIdle) })
	}
	p.cmd.Env = g.environment(found, c)
	p.cmd.Dir = c.WorkTree
	return p
}

func (g *Git) newProcess(ctx context.Context, op trace.Operation, c Command, argv []string) *Process {
	ctx, traced := trace.Start(ctx, op)
	ctx, cancel := context.WithCancelCause(ctx)
	p := &Process{ctx: ctx, cancel: cancel, command: c, traced: traced, stderr: &sanitize.Tail{}}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = killDelay
	p.cmd.Cancel = func() error { return procgroup.Terminate(p.cmd.Process) }
	if !g.Interactive {
		procgroup.Detach(p.cmd)
	}
	return p
}

func (p *Process) start() error {
	gone, err := procgroup.Start(p.cmd)
	p.gone = gone
	if err != nil {
		defer p.release()
		err = p.failure(err)
		p.traced(err)
	}
	return err
}

// Wait waits for git to exit. If the context was canceled, the error wraps its cause. Further calls
// return the same result.
func (p *Process) Wait() error {
	p.ended.Do(func() {
		defer p.release()
		err := p.cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) && p.cmd.ProcessState.Success() {
			err = nil // git has exited; only a daemon that it started still holds a pipe
		}
		if err != nil {
			p.err = p.failure(err)
		}
		if p.enough.Load() {
			p.traced(nil)
			return
		}
		p.traced(p.err)
	})
	return p.err
}

// Kill ends git for a caller that needs no more output.
func (p *Process) Kill() {
	p.enough.Store(true)
	p.cancel(context.Canceled)
	_ = p.Wait()
}

func (p *Process) release() {
	if p.ctx.Err() != nil && p.cmd.Process != nil {
		procgroup.KillGroup(p.cmd.Process)
	}
	p.stderr.Stop()
	p.cancel(nil)
	p.gone()
}

func (p *Process) failure(err error) error {
	e := &Error{
		Program:  p.program,
		Args:     sanitize.RedactAll(p.command.Args, p.command.Secrets),
		ExitCode: -1,
		Stderr:   p.stderr.Excerpt(p.command.Secrets),
		Err:      err,
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		e.ExitCode = exit.ExitCode()
	}
	if cause := context.Cause(p.ctx); cause != nil {
		e.Err = cause
	}
	return e
}
