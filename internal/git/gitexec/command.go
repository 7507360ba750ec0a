package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
)

// Command is one run of git.
type Command struct {
	// Args are the subcommand and its arguments.
	Args []string
	// Repo is the git directory to work in; "" means none. Git does not check its owner: a
	// repository that was found must be opened with [Git.WorkTree].
	Repo string
	// WorkTree is the checkout of Repo to work in, an absolute path; "" means none.
	WorkTree string
	// Network gives the command access to the network and to the user's configuration.
	Network *Network
	// Secrets are values that must be removed from the stored messages of git.
	Secrets []string
	// Hold is a file that stays open as long as git, or a process started by git, runs, even if
	// this process is killed. A lock on the file lasts just as long. nil means none. Hold has
	// no effect on Windows.
	Hold *os.File
}

// Network describes what a command may do outside of its repository.
type Network struct {
	// Protocols are the transports that may be used, as in GIT_ALLOW_PROTOCOL. The user's own
	// setting of that variable can restrict them further. An empty list allows none. Redirects
	// are never followed.
	Protocols []string
	// Direct are further transports, which may be used if the user's own configuration points
	// to them (url.insteadOf), but not if a server does. If the user sets GIT_ALLOW_PROTOCOL,
	// git does not distinguish the two cases.
	Direct []string
	// ConfigFile is an additional configuration file, an absolute path. It is used to pass
	// credentials, which must not appear in arguments.
	ConfigFile string
	// Secrets are environment variables for git ("NAME=value") that the configuration file
	// refers to.
	Secrets []string
	// SSHKeyFile is a private key for ssh to offer; "" means the user's own keys.
	SSHKeyFile string
	// PacketTrace is a file, an absolute path, to which git appends the messages of the
	// protocol; "" means none. The messages contain no credentials.
	PacketTrace string
	// HTTPTrace is a file, an absolute path, to which git appends the headers of its http
	// requests and of the answers; "" means none. Credentials are blanked out.
	HTTPTrace string
	// Floor is the minimum rate at which an http server must send; nil means that there is no
	// minimum. The user's GIT_HTTP_LOW_SPEED_LIMIT and GIT_HTTP_LOW_SPEED_TIME take precedence.
	Floor *httpx.Floor
	// Idle is how long git may write nothing to its standard error before it is killed. 0 means
	// no limit. Pass --progress so that a working git is not silent.
	Idle time.Duration
}

// ErrIdle means that git wrote nothing to its standard error for [Network.Idle].
var ErrIdle = errors.New("no sign of life from git or the server")

// ErrOutput means that git wrote more than the allowed output.
var ErrOutput = errors.New("git wrote too much")

// Run runs a command and ignores its output. Errors are [*Error], or wrap [ErrNoGit].
func (g *Git) Run(ctx context.Context, c Command) error {
	_, err := g.Output(ctx, c, maxProbeOutput)
	return err
}

// Output runs a command and returns its standard output. The error wraps [ErrOutput] if the
// output is longer than limit bytes. Other errors are as for Run.
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

// Start starts a command with pipes for its input and output. The caller must call Wait.
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

// limitedBuffer is a buffer for at most limit bytes. If more are written, it calls full and
// returns an error.
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
