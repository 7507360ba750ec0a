//go:build unix

package cliconfig_test

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestHelperIsKilled cancels a context while a helper waits for a program that
// it started. That program has a pipe open for writing: the pipe can be opened
// for reading once the program runs, and ends when the program has ended.
func TestHelperIsKilled(t *testing.T) {
	t.Parallel()
	env, log := withHelper(t, `sleep 1000 > "$LOG" & wait`)
	testenv.Must(t, syscall.Mkfifo(log, 0o600))
	config := load(t, env)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, _, err := config.Token(ctx, host)
		result <- err
	}()
	pipe, err := os.Open(log)
	testenv.Must(t, err)
	defer pipe.Close()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("Token = %v, want context.Canceled", err)
	}
	if text, err := io.ReadAll(pipe); len(text) > 0 || err != nil {
		t.Errorf("the pipe has %q, %v", text, err)
	}
}
