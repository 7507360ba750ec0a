package hg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// ErrNoHg means that no usable Mercurial is installed.
var ErrNoHg = errors.New("no usable hg found; fetching from Mercurial repositories requires Mercurial")

const (
	killDelay = 2 * time.Second
	// maxOutput is in bytes. The output is the id of a changeset, or nothing.
	maxOutput = 4 << 10
)

// dropped change hg's output or the meaning of its names, or let ssh open a window to prompt.
var dropped = []string{
	"HGPLAINEXCEPT", "HGENCODINGMODE", "HGENCODINGAMBIGUOUS", "HGEDITOR", "HGMERGE", "HGDEBUG", "HGPROF",
	"LANGUAGE", "SSH_ASKPASS",
}

// settings override all configuration files. They disable extensions that keep the contents of files
// elsewhere, without which the repository could not be read.
var settings = []string{
	"ui.interactive=false",
	"ui.clonebundles=false",
	"ui.archivemeta=false",
	"ui.paginate=never",
	"subrepos.allowed=false",
	"extensions.largefiles=!",
	"extensions.lfs=!",
	"extensions.remotefilelog=!",
}

func (g Getter) environ() []string {
	if g.Env != nil {
		return slices.Clone(g.Env)
	}
	return procgroup.Without(os.Environ(), "COTTER_STATE_KEY") // other programs must not see the user's key
}

func (g Getter) find() (string, error) {
	if g.Path == "" {
		if found := procgroup.Find(g.environ(), "hg"); found != "" {
			return found, nil
		}
		return "", fmt.Errorf("%w: none in PATH", ErrNoHg)
	}
	if !filepath.IsAbs(g.Path) {
		return "", fmt.Errorf("%w: %q is not an absolute path", ErrNoHg, g.Path)
	}
	return g.Path, nil
}

// onNetwork runs hg with the user's configuration.
func (r *repository) onNetwork(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, r.dir(), r.networkEnv(), args...)
}

// reading runs hg without the user's configuration.
func (r *repository) reading(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, r.dir(), r.readingEnv(), args...)
}

func (r *repository) networkEnv() []string {
	env := procgroup.Without(slices.Clone(r.env), append(dropped, "HGPLAIN", "HGENCODING", "LC_ALL", "SSH_ASKPASS_REQUIRE")...)
	return append(env, "HGPLAIN=1", "HGENCODING=UTF-8", "LC_ALL=C", "SSH_ASKPASS_REQUIRE=never")
}

// readingEnv has an empty HGRCPATH, with which hg reads only the private repository's configuration.
func (r *repository) readingEnv() []string {
	return append(procgroup.Without(r.networkEnv(), "HGRCPATH"), "HGRCPATH=")
}

func (r *repository) run(ctx context.Context, dir string, env []string, args ...string) (_ string, err error) {
	command := []string{"--noninteractive"}
	for _, setting := range settings {
		command = append(command, "--config", setting)
	}
	ctx, done := trace.Start(ctx, trace.Operation{Kind: "hg", Name: args[0]})
	defer func() { done(err) }()
	cmd := exec.CommandContext(ctx, r.program, append(command, args...)...)
	var out limitedBuffer
	var stderr sanitize.Tail
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &stderr
	cmd.WaitDelay = killDelay
	cmd.Cancel = func() error { return procgroup.Terminate(cmd.Process) }
	procgroup.Detach(cmd)
	err = procgroup.Run(cmd)
	if ctx.Err() != nil && cmd.Process != nil {
		procgroup.KillGroup(cmd.Process)
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		return out.String(), nil
	}
	e := &Error{Args: args, Stderr: stderr.Excerpt(r.addr.secrets()), Err: err}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		e.Err = fmt.Errorf("%w: %w", ErrNoHg, err)
	}
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	return "", e
}

type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

func (a address) secrets() []string {
	password, _ := a.remote.User.Password()
	secrets := []string{password}
	for _, values := range a.remote.Query() {
		secrets = append(secrets, values...)
	}
	if a.remote.Scheme != "ssh" { // for ssh, the user name is part of the address
		secrets = append(secrets, a.remote.User.Username())
	}
	return secrets
}

// Error is a failed run of hg.
type Error struct {
	// Args have no credentials.
	Args []string
	// Stderr is the end of hg's standard error, at most 8 KiB, escaped as by %q, without credentials. Lines
	// are separated by "\n".
	Stderr string
	// Err is the error of the context or of os/exec, or [ErrNoHg].
	Err error
}

const maxMessage = 600

func (e *Error) Error() string {
	name := "hg"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	text := strings.ReplaceAll(e.Stderr, "\n", "; ")
	if len(text) > maxMessage {
		text = "[...]" + strings.ToValidUTF8(text[len(text)-maxMessage:], "")
	}
	return fmt.Sprintf("%s: %v: %s", name, e.Err, text)
}

func (e *Error) Unwrap() error { return e.Err }
