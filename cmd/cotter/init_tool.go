package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/internal/procgroup"
)

// stockTool is the program whose init is run.
type stockTool struct{ path string }

// noToolError reports a stock tool that was not found.
type noToolError struct {
	// tool is the path of a program, or a name that was not found in the directories of
	// path. path is "" if tool is a path.
	tool, path string
	// sign is the sign of the project that made the tool the project's one, or "".
	sign string
}

func (e *noToolError) Error() string {
	if e.path == "" {
		return fmt.Sprintf("%s is not a program that can be run", e.tool)
	}
	text := fmt.Sprintf("%s was not found in PATH (%s)", e.tool, e.path)
	if e.sign != "" {
		text += fmt.Sprintf("; the project is for %s according to %s", e.tool, e.sign)
	}
	return text
}

// findTool finds the tool that --tool names, or otherwise the project's tool. If it is not
// known which tool the project is for, findTool decides: it is the tool of --tool, or the
// only installed one. It sets the dialect of req accordingly.
func findTool(ctx context.Context, cmd *cli.Invocation, out *output, req *cotter.Request) (stockTool, error) {
	name := cmd.String("tool")
	dialect, signs, err := localInstaller(cmd, out).FindDialect(ctx, *req)
	if err != nil {
		return stockTool{}, err
	}
	wasGiven := req.Dialect != cotter.DialectAuto
	if !wasGiven && len(signs) == 0 {
		switch own, isTool := toolDialect(name); {
		case isTool:
			dialect = own
		case name == "" && len(req.Tools) == 1:
			dialect = req.Tools[0]
		}
		req.Dialect = dialect
		if err := cmd.Set("for", dialect.String()); err != nil {
			return stockTool{}, err
		}
	}
	if name == "" {
		name = dialect.String()
	}
	if own, isTool := toolDialect(name); isTool {
		req.Next = own
	}
	if filepath.Base(name) == name {
		if path := procgroup.Find([]string{"PATH=" + out.env("PATH")}, name); path != "" {
			return stockTool{path}, nil
		}
		sign := "" // by which the tool was found to be the project's one
		if !wasGiven && cmd.String("tool") == "" && len(signs) > 0 && signs[0].Dialect.String() == name {
			sign = signs[0].What
		}
		return stockTool{}, &noToolError{tool: name, path: out.env("PATH"), sign: sign}
	}
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = exec.LookPath(path)
	}
	if err != nil {
		return stockTool{}, &noToolError{tool: name}
	}
	return stockTool{path}, nil
}

// toolDialect returns the dialect that the name of a program indicates, and reports whether
// it indicates one.
func toolDialect(name string) (cotter.Dialect, bool) {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "tofu"):
		return cotter.DialectOpenTofu, true
	case strings.HasPrefix(base, "terraform"):
		return cotter.DialectTerraform, true
	}
	return cotter.DialectAuto, false
}

func (t stockTool) name() string { return strings.TrimSuffix(filepath.Base(t.path), ".exe") }

// command returns the command to run the tool with the terminal of this process. The tool
// gets the whole environment except COTTER_STATE_KEY, the secret that proves which files
// Cotter has written. What it prints is not filtered, as if the user had run it.
func (t stockTool) command(ctx context.Context, out *output, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, unfiltered(out.stdout), unfiltered(out.stderr)
	cmd.Env = procgroup.Without(os.Environ(), "COTTER_STATE_KEY")
	return cmd
}

// handoverSignals are the signals that this process gets while it waits for the tool.
type handoverSignals struct {
	caught chan os.Signal
	ctx    context.Context
	// keep makes sure that signals are still caught after ctx is canceled. It reports
	// false if ctx has been canceled already.
	keep func() bool
}

// catchSignals starts to catch signals for a tool that is started later. Until the tool is
// started, signals act as in other commands: the first cancels ctx, and the second ends the
// process.
func catchSignals(ctx context.Context) *handoverSignals {
	s := &handoverSignals{caught: make(chan os.Signal, 8), ctx: ctx}
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	s.keep = context.AfterFunc(ctx, s.stop)
	return s
}

func (s *handoverSignals) stop() { signal.Stop(s.caught) }

// run runs the tool and waits until it ends, even if this process gets signals. Signals
// from the terminal reach the tool directly, because they are sent to all processes in the
// foreground. run passes SIGTERM on to the tool.
func (s *handoverSignals) run(tool *exec.Cmd) error {
	if !s.keep() || len(s.caught) > 0 {
		<-s.ctx.Done() // a caught signal also cancels ctx
		return s.ctx.Err()
	}
	signal.Notify(s.caught, syscall.SIGHUP, syscall.SIGQUIT)
	if err := tool.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- tool.Wait() }()
	for {
		select {
		case caught := <-s.caught:
			if caught == syscall.SIGTERM {
				_ = tool.Process.Signal(caught) // it may have ended
			}
		case err := <-ended:
			return endOf(err)
		}
	}
}

// endOf turns the error of a program that has ended into an exitOnly. Its status is the exit
// status of the program or, as in shells, 128 plus the number of the signal that killed it.
func endOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitOnly{128 + int(status.Signal())}
	}
	return exitOnly{exit.ExitCode()}
}
