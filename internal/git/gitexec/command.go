package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cotterpin/cotter/internal/minrate"
)

// Command is one run of git.
type Command struct {
	// Args are the subcommand and its arguments.
	Args []string
	// Repo is the git directory to work in. "" means none for a command with
	// Network, and else the one that git finds.
	Repo string
	// WorkTree is the checkout of Repo to work in, an absolute path; "" means none.
	WorkTree string
	// Network opens the network and the user's configuration to the command.
	Network *Network
	// Secrets are values that must not appear in what is kept of git's
	// messages.
	Secrets []string
	// Hold is a file that stays open as long as git or anything that it starts
	// runs, also if our process is killed: a lock on it lasts that long. nil
	// means none. It has no effect on Windows.
	Hold *os.File
}

// Network says what a command may do beyond its repository.
type Network struct {
	// Protocols are the transports that may be used, as in GIT_ALLOW_PROTOCOL.
	// The user's own setting of that variable can narrow them. None means none.
	Protocols []string
	// Redirects are not followed, whatever the protocol.
	//
	// Direct are transports that may be used beside these where the user's own
	// configuration points to them (url.insteadOf), but not where a server
	// redirects to them. A GIT_ALLOW_PROTOCOL of the user's does not tell the
	// two apart.
	Direct []string
	// ConfigFile is a further configuration file, an absolute path. It is the
	// way to hand over credentials, which must not stand in arguments.
	ConfigFile string
	// Secrets are variables for git's environment ("NAME=value") that the
	// configuration file refers to.
	Secrets []string
	// SSHKeyFile is a private key for ssh to offer; "" means the user's own.
	SSHKeyFile string
	// PacketTrace is a file, an absolute path, to which git appends the
	// protocol's messages; "" means none. It holds no credentials.
	PacketTrace string
	// HTTPTrace is a file, an absolute path, to which git appends the headers of
	// its requests by http and of the answers; "" means none. Credentials are
	// blanked out.
	HTTPTrace string
	// Floor is the least that a server must send by http; nil means that there is
	// no such bound. GIT_HTTP_LOW_SPEED_LIMIT and _TIME of the user's win.
	Floor *minrate.Floor
	// Idle is how long git may stay silent on its standard error before it is
	// killed. 0 means forever. Pass --progress so that working is not silent.
	Idle time.Duration
}

// ErrIdle says that git gave no sign of life for [Network.Idle].
var ErrIdle = errors.New("no sign of life from git or the server")

// ErrOutput says that git wrote more than was allowed.
var ErrOutput = errors.New("git wrote too much")

// Run runs a command whose output does not matter. Errors are [*Error], or
// wrap [ErrNoGit].
func (g *Git) Run(ctx context.Context, c Command) error {
	_, err := g.Output(ctx, c, maxProbeOutput)
	return err
}

// Output runs a command and returns its standard output, which being longer
// than limit bytes is an error that wraps [ErrOutput]. Other errors are as for
// Run.
func (g *Git) Output(ctx context.Context, c Command, limit int) ([]byte, error) {
	p, err := g.find(ctx)
	if err != nil {
		return nil, err
	}
	return g.output(ctx, p, c, limit)
}

func (g *Git) output(ctx context.Context, p program, c Command, limit int) ([]byte, error) {
	proc := g.prepare(ctx, p, c)
	out := limitedBuffer{limit: limit, full: func() { proc.cancel(fmt.Errorf("%w: over %d bytes", ErrOutput, limit)) }}
	proc.cmd.Stdout = &out
	if err := proc.start(); err != nil {
		return nil, err
	}
	if err := proc.Wait(); err != nil {
		return nil, err
	}
	return out.buf.Bytes(), nil
}

// Start starts a command whose input and output are pipes. The caller must
// call Wait.
func (g *Git) Start(ctx context.Context, c Command) (*Process, error) {
	found, err := g.find(ctx)
	if err != nil {
		return nil, err
	}
	p := g.prepare(ctx, found, c)
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, p.failure(err)
	}
	if p.Stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, p.failure(err)
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

// limitedBuffer calls full, and takes no more, when it would outgrow limit.
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
