package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tool is a command that installs modules.
type tool struct {
	name    string
	version string
	args    []string
	ours    bool
}

// findTools builds cotter in a directory, and finds the stock binaries on the PATH.
func findTools(ctx context.Context, dir string) ([]tool, error) {
	binary := filepath.Join(dir, "cotter")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/cotter")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/cotter, to be run in the top directory: %w", err)
	}
	tools := []tool{{name: "cotter install", version: "built for this measurement", args: []string{binary, "install"}, ours: true}}
	for _, stock := range []string{"tofu", "terraform"} {
		path, err := exec.LookPath(stock)
		if err != nil {
			continue
		}
		tools = append(tools, tool{name: stock + " get", version: firstLine(ctx, path, "version"), args: []string{path, "get"}})
	}
	return tools, nil
}

// firstLine is the first line that a command prints, or "".
func firstLine(ctx context.Context, name string, args ...string) string {
	out, _ := exec.CommandContext(ctx, name, args...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
