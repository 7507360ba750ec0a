// Command cotter-conformance tests how another program hashes module trees, and how it
// reads and writes lock files. It uses the cases in
// testdata/conformance. docs/conformance.md describes the protocol.
//
//	go run ./cmd/cotter-conformance COMMAND [ARGUMENT...]
//
// It runs the command once for each case, with "hash DIR", "parse FILE", "edit FILE" or
// "select FILE" after the command's own arguments, and prints the result of each case. The exit status
// is 0 if no case failed, 1 if a case failed, and 2 for a wrong command line.
//
//	cotter-conformance reference hash|parse|edit|select PATH
//
// is a command of this kind. It uses the packages of this module.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// The exit statuses. notImplemented is a status of the tested program, the others are those
// of this program.
const (
	failure        = 1
	wrongUsage     = 2
	notImplemented = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "reference" {
		return reference(args[1:], stdin, stdout, stderr)
	}
	flags := flag.NewFlagSet("cotter-conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("kit", "testdata/conformance", "the directory with the cases")
	if err := flags.Parse(args); err != nil {
		return wrongUsage
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "usage: cotter-conformance [-kit DIR] COMMAND [ARGUMENT...]")
		return wrongUsage
	}
	cases, err := readKit(*dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return failure
	}
	passed, failed, skipped := 0, 0, 0
	for _, c := range cases {
		switch err := check(ctx, c, process(flags.Args())); {
		case err == nil:
			passed++
			fmt.Fprintf(stdout, "ok    %s\n", c.name)
		case errors.Is(err, errSkipped):
			skipped++
			fmt.Fprintf(stdout, "skip  %s: %v\n", c.name, err)
		default:
			failed++
			fmt.Fprintf(stdout, "FAIL  %s: %v\n", c.name, err)
		}
	}
	fmt.Fprintf(stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return failure
	}
	return 0
}

// program runs the tested program. verb is "hash", "parse" or "edit". It returns the
// program's standard output and its exit status.
type program func(ctx context.Context, verb, path string, stdin []byte) (stdout []byte, status int, err error)

// process returns a program that runs a command.
func process(command []string) program {
	return func(ctx context.Context, verb, path string, stdin []byte) ([]byte, int, error) {
		args := append(append([]string{}, command[1:]...), verb, path)
		cmd := exec.CommandContext(ctx, command[0], args...)
		cmd.Stdin = bytes.NewReader(stdin)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Exited() {
			return out, exit.ExitCode(), nil
		}
		return out, 0, err
	}
}
