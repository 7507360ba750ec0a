package cliconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

type programs struct {
	plugins []string // directories of credentials helpers
	windows bool
	// environ is a function because package fmt does not print what it returns, which contains secrets.
	environ func() []string
}

func newPrograms(p paths) programs {
	environ := append([]string{}, p.Variables...) // for os/exec, nil means the environment of this process
	return programs{plugins: p.pluginDirectories(), windows: p.windows(), environ: func() []string { return environ }}
}

// plugin finds the newest version of a plugin, in a file with its name, possibly followed by "_vX.Y.Z". Of
// several with the same version, the first is used.
func (p programs) plugin(name string) (string, error) {
	var best string
	var newest *version.Version
	for _, dir := range p.plugins {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most of the directories do not exist
		}
		for _, entry := range entries {
			v := p.pluginVersion(entry.Name(), name)
			file := filepath.Join(dir, entry.Name())
			if v != nil && (newest == nil || v.GreaterThan(newest)) && p.executable(file) {
				best, newest = file, v
			}
		}
	}
	if best == "" {
		return "", fmt.Errorf("there is no program %q in any of %q", name, p.plugins)
	}
	return filepath.Abs(best)
}

// pluginVersion returns the version in the name of a plugin's file, or 0.0.0 if the name has no version. It
// returns nil for other files.
func (p programs) pluginVersion(file, name string) *version.Version {
	if p.windows {
		file = strings.TrimSuffix(file, ".exe")
	}
	suffix, ok := strings.CutPrefix(file, name)
	if !ok {
		return nil
	}
	if suffix == "" {
		suffix = "_v0.0.0"
	}
	number, ok := strings.CutPrefix(suffix, "_v")
	if !ok {
		return nil
	}
	v, err := version.NewSemver(number)
	if err != nil {
		return nil
	}
	return v
}

func (p programs) executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (p.windows || info.Mode()&0o111 != 0)
}

// onPath finds a program in the absolute directories of PATH.
func (p programs) onPath(name string) (string, error) {
	if file := procgroup.Find(p.environ(), name); file != "" {
		return file, nil
	}
	return "", fmt.Errorf("there is no program %q on the PATH", name)
}

const (
	// maxRun is enough to look something up. A helper has no terminal on which it could ask the user.
	maxRun = 10 * time.Second
	// afterRun is how long a program that a helper left running may keep the output open.
	afterRun = time.Second
	// maxOutput, in bytes, is far more than any token needs.
	maxOutput = 64 << 10
)

// runError has neither the output nor the arguments of a helper, because both may contain a secret.
type runError struct {
	program string
	err     error
	output  []byte
}

func (e *runError) Error() string {
	return fmt.Sprintf("%q failed: %s; its output may be secret, so run it by hand to see why", e.program, e.err)
}

func (e *runError) Unwrap() error { return e.err }

// run returns the output of a helper, without its stderr, which may also contain a secret. The error is
// ctx's or a *runError.
func (p programs) run(ctx context.Context, program string, args []string, stdin string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	var out output
	cmd := exec.CommandContext(limited, program, args...)
	cmd.Env = p.environ()
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout = &out
	cmd.WaitDelay = afterRun
	procgroup.Detach(cmd)
	cmd.Cancel = func() error {
		procgroup.KillGroup(cmd.Process)
		return cmd.Process.Kill()
	}
	err := procgroup.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it took longer than %s", maxRun)
	case out.full:
		err = errTooMuch
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // the helper ended but left an agent running
	}
	if err != nil {
		return nil, &runError{program: program, err: err, output: out.buf.Bytes()}
	}
	return out.buf.Bytes(), nil
}

var errTooMuch = errors.New("it printed too much")

// output keeps output up to the limit. After that, writes fail, which ends most programs.
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

const helperPrefix = "terraform-credentials-"

type helper struct {
	name string
	args []string
}

var errNotJSON = errors.New("its output is not a JSON object")

func (h *helper) get(ctx context.Context, p programs, host addrs.Hostname) (credentials, error) {
	program, err := p.plugin(helperPrefix + h.name)
	if err != nil {
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	args := append(append([]string{}, h.args...), "get", string(host))
	out, err := p.run(ctx, program, args, "")
	if err != nil {
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	var answer map[string]any
	if err := json.Unmarshal(out, &answer); err != nil { // the error could quote a token
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, errNotJSON)
	}
	token, ok := answer["token"].(string)
	return credentials{token: sanitize.NewSecret(token), none: !ok, place: Place{PlaceHelper, program}}, nil
}
