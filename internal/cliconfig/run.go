package cliconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	// maxRun is how long a helper may take. It is to look something up, and
	// there is nobody whom it could ask.
	maxRun = 10 * time.Second
	// afterRun is how long something that a helper started may keep its output
	// open once the helper is gone.
	afterRun = time.Second
	// maxOutput is far more than any token needs.
	maxOutput = 64 << 10
)

// runError is a helper that did not succeed. Its output and its arguments are
// not for the message: either may hold a secret.
type runError struct {
	program string
	err     error
	output  []byte
}

func (e *runError) Error() string {
	return fmt.Sprintf("%q did not succeed: %s; what it prints may be secret, so run it by hand to see why", e.program, e.err)
}

func (e *runError) Unwrap() error { return e.err }

// run runs a helper and returns what it printed. Its stderr is dropped: it may
// hold a secret as well.
func (p programs) run(ctx context.Context, program string, args []string, stdin string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	var out output
	cmd := exec.CommandContext(limited, program, args...)
	cmd.Env = append([]string{}, p.environ()...) // a nil one would be that of this process
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout = &out
	cmd.WaitDelay = afterRun
	isolate(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it took longer than %s", maxRun)
	case out.full:
		err = errTooMuch
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // what it left running may be an agent for the next time
	}
	if err != nil {
		return nil, &runError{program: program, err: err, output: out.buf.Bytes()}
	}
	return out.buf.Bytes(), nil
}

// output keeps what a helper prints, up to the limit. Beyond it writing fails,
// which ends most programs.
type output struct {
	buf  bytes.Buffer
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.buf.Len()+len(p) > maxOutput {
		o.full = true
		return 0, errTooMuch
	}
	return o.buf.Write(p)
}

// isExit reports whether a program ran and did not succeed.
func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}
