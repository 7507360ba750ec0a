package gitexec

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/procgroup"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// killDelay is how long a cancelled git may clean up (it removes its temporary packs) before it
// is killed. It is also how long a daemon that a helper left running may keep our pipes open.
const killDelay = 2 * time.Second

// Process is a running git.
type Process struct {
	// Stdin and Stdout are pipes to git. They are only set by [Git.Start].
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd     *exec.Cmd
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stderr  *sanitize.Tail
	command Command
	ended   sync.Once
	err     error
}

// prepare returns a process that is ready to start.
func (g *Git) prepare(ctx context.Context, found program, c Command) *Process {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &Process{ctx: ctx, cancel: cancel, command: c, stderr: &sanitize.Tail{}}
	if c.Network != nil && c.Network.Idle > 0 {
		p.stderr.Watch(c.Network.Idle, func() { cancel(ErrIdle) })
	}
	p.cmd = exec.CommandContext(ctx, found.path, append(configArgs(c), c.Args...)...)
	p.cmd.Env = g.environment(found, c)
	p.cmd.Dir = c.WorkTree
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = killDelay
	p.cmd.Cancel = func() error { return procgroup.Terminate(p.cmd.Process) }
	if !g.Interactive {
		procgroup.Detach(p.cmd)
	}
	if c.Hold != nil {
		procgroup.Inherit(p.cmd, c.Hold)
	}
	return p
}

func (p *Process) start() error {
	if err := p.cmd.Start(); err != nil {
		defer p.release()
		return p.failure(err)
	}
	return nil
}

// Wait waits for git to exit and releases its resources. If the context was cancelled, the
// error wraps its cause. Further calls return the same result.
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
	})
	return p.err
}

// Kill kills git and waits for its exit. It is for callers that need no more output.
func (p *Process) Kill() {
	p.cancel(context.Canceled)
	_ = p.Wait()
}

func (p *Process) release() {
	if p.ctx.Err() != nil && p.cmd.Process != nil {
		procgroup.KillGroup(p.cmd.Process)
	}
	p.stderr.Stop()
	p.cancel(nil)
}

// failure returns the *Error of a run that ended with err.
func (p *Process) failure(err error) error {
	e := &Error{
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
