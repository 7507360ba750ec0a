package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type tool struct {
	name    string // cotter, tofu or terraform
	version string
	binary  string
	ours    bool
}

// commands do the same work.
type commands struct{ ours, stock []string }

var modules = commands{ours: []string{"install", "--only", "modules"}, stock: []string{"get"}}

func (c commands) of(t tool) []string {
	if t.ours {
		return c.ours
	}
	return c.stock
}

// findTools builds cotter, and finds the stock binaries in PATH.
func findTools(ctx context.Context, dir string) ([]tool, error) {
	binary := filepath.Join(dir, "cotter")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/cotter")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/cotter (bench must run in the top directory of the repository): %w", err)
	}
	tools := []tool{{name: "cotter", version: "built for this measurement", binary: binary, ours: true}}
	for _, stock := range []string{"tofu", "terraform"} {
		path, err := exec.LookPath(stock)
		if err != nil {
			continue
		}
		tools = append(tools, tool{name: stock, version: firstLine(ctx, path, "version"), binary: path})
	}
	return tools, nil
}

// firstLine returns "" without output.
func firstLine(ctx context.Context, name string, args ...string) string {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE=", "CHECKPOINT_DISABLE=1")
	out, _ := cmd.Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
