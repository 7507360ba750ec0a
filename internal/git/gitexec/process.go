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

// killDelay is how long a cancelled git may tidy up (it removes its temporary
// packs) before it is killed, and how long a daemon that a helper left behind
// may hold our pipes open.
const killDelay = 2 * time.Second

// Process is a running git.
type Process struct {
	// Stdin and Stdout are the ends of its pipes, set by [Git.Start] only.
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

// prepare makes a command ready to start.
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

// Wait waits for git to end and releases it. A cancelled context is among the
// causes of its error. Further calls give the same answer.
func (p *Process) Wait() error {
	p.ended.Do(func() {
		defer p.release()
		err := p.cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) && p.cmd.ProcessState.Success() {
			err = nil // git is done; only a daemon it left behind holds a pipe
		}
		if err != nil {
			p.err = p.failure(err)
		}
	})
	return p.err
}

// Kill ends git and waits for that. It is for a reader that needs no more.
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

// failure is the error of a run that ended with err.
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
