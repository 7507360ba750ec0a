// Command cotter-conformance tests other programs and servers. docs/spec/conformance.md describes it.
//
//	cotter-conformance [-kit DIR] COMMAND [ARGUMENT...]
//
// tests how a program hashes module trees, and how it reads and writes lock files. It runs the
// command once for each case, with "hash DIR", "parse FILE", "edit FILE" or "select FILE" after the
// command's own arguments, and prints the result of each case.
//
//	cotter-conformance module [-json] HOST/NAMESPACE/NAME/SYSTEM
//	cotter-conformance provider [-json] HOST/NAMESPACE/TYPE
//	cotter-conformance oci [-json] oci://HOST/REPOSITORY
//
// test a module registry, a provider registry and an OCI repository, with the credentials of stock
// tools. They print each rule of the protocol that the server breaks. "cotter-conformance rules"
// prints all rules.
//
//	cotter-conformance reference hash|parse|edit|select PATH
//
// is a command that can be tested. It uses the packages of this module.
//
// The exit status is 0 if no case failed and no rule is broken, 1 if one is, and 2 for a wrong
// command line.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"

	"github.com/cotterpin/cotter/conformance"
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
	if len(args) > 0 {
		switch args[0] {
		case "reference":
			return reference(args[1:], stdin, stdout, stderr)
		case "rules":
			return printRules(stdout)
		case "module", "provider", "oci":
			return checkServer(ctx, args[0], args[1:], stdout, stderr)
		}
	}
	flags := flag.NewFlagSet("cotter-conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("kit", "", "a directory with other cases")
	if err := flags.Parse(args); err != nil {
		return wrongUsage
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, usage)
		return wrongUsage
	}
	kit := conformance.Kit()
	if *dir != "" {
		kit = os.DirFS(*dir)
	}
	return checkProgram(ctx, kit, process(flags.Args()), stdout, stderr)
}

const usage = `usage: cotter-conformance [-kit DIR] COMMAND [ARGUMENT...]
       cotter-conformance module [-json] HOST/NAMESPACE/NAME/SYSTEM
       cotter-conformance provider [-json] HOST/NAMESPACE/TYPE
       cotter-conformance oci [-json] oci://HOST/REPOSITORY
       cotter-conformance rules`

func checkProgram(ctx context.Context, kit fs.FS, run program, stdout, stderr io.Writer) int {
	cases, err := readKit(kit)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return failure
	}
	passed, failed, skipped := 0, 0, 0
	for _, c := range cases {
		switch err := check(ctx, c, run); {
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
