package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/process/procgroup"
)

const otherTool = "Use `--tool` with its path, or `--for` if the project is for the other tool."

// findTool returns the path of the tool that --tool names, or else of the project's tool. If nothing indicates
// one, the tool that runs decides, and findTool sets the dialect of req.
func findTool(ctx context.Context, cmd *invocation, out *output, req *request) (string, error) {
	name, sign := cmd.String("tool"), ""
	result, err := localInstaller(out).Load(ctx, req.Project, installer.LoadOptions{BestEffort: true})
	if result == nil {
		return "", err
	}
	dialect, signs := result.Dialect, result.DialectSigns
	req.Next = toolDialect(name)
	switch {
	case req.Dialect != installer.DialectAuto:
	case len(signs) > 0:
		sign = fmt.Sprintf("; the project is for %s according to %s", dialect, signs[0].What)
	default:
		if req.Next != installer.DialectAuto {
			dialect = req.Next
		}
		req.Dialect = dialect
		if err := cmd.Flags().Set("for", dialect.String()); err != nil {
			return "", err
		}
	}
	if name == "" {
		name, req.Next = dialect.String(), dialect
	} else {
		sign = ""
	}
	if filepath.Base(name) == name {
		if path := procgroup.Find([]string{"PATH=" + out.Env("PATH")}, name); path != "" {
			return path, nil
		}
		return "", advice.Hinted(fmt.Errorf("%s was not found in PATH (%s)%s", name, out.Env("PATH"), sign), otherTool)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", advice.Hinted(fmt.Errorf("%s is not a program that can be run", name), otherTool)
	}
	return path, nil
}

func toolDialect(name string) installer.Dialect {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "tofu"):
		return installer.DialectOpenTofu
	case strings.HasPrefix(base, "terraform"):
		return installer.DialectTerraform
	}
	return installer.DialectAuto
}

// toolCommand gives the tool the terminal, unfiltered, and the whole environment except COTTER_STATE_KEY, the
// secret that proves which files Cotter has written.
func toolCommand(ctx context.Context, out *output, path string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, unfiltered(out.stdout), unfiltered(out.stderr)
	cmd.Env = procgroup.Without(os.Environ(), "COTTER_STATE_KEY")
	return cmd
}

// runTool waits until the tool ends, even if this process gets signals. It passes on SIGTERM; those from the
// terminal reach all processes in the foreground. The status of its error is the tool's or, as in shells, 128
// plus the number of the signal that killed it.
func runTool(name string, tool *exec.Cmd, caught <-chan os.Signal) error {
	if err := tool.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- tool.Wait() }()
	for {
		select {
		case signal := <-caught:
			if signal == syscall.SIGTERM {
				_ = tool.Process.Signal(signal) // it may have ended
			}
		case err := <-ended:
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				return err
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return exitOnly{name, 128 + int(status.Signal())}
			}
			return exitOnly{name, exit.ExitCode()}
		}
	}
}
