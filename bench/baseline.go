package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

const (
	readingAndHashing = "reading and hashing the files"
	cloningBare       = "a bare shallow clone"
)

// readAndHash is the least work of a tool that verifies the files.
func readAndHash(ctx context.Context, p project, runs int) (report.Row, error) {
	sum := sha256.New()
	return timed(ctx, readingAndHashing, runs, func(int) error {
		return eachFile(p.file(installed), func(_ string, file *os.File) error {
			sum.Reset()
			_, err := io.Copy(sum, file)
			return err
		})
	})
}

// copyFiles is about the least work of a tool that installs the files, unless the file system shares
// blocks.
func copyFiles(ctx context.Context, p project, runs int) (report.Row, error) {
	from := p.file(installed)
	return timed(ctx, "copying the files", runs, func(run int) error {
		to := p.file(fmt.Sprintf("copies/%d", run))
		return eachFile(from, func(path string, file *os.File) error {
			target := filepath.Join(to, strings.TrimPrefix(path, from))
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			copied, err := os.Create(target)
			if err != nil {
				return err
			}
			_, err = io.Copy(copied, file)
			return errors.Join(err, copied.Close())
		})
	})
}

const installed = "project/.terraform/modules"

func timed(ctx context.Context, name string, runs int, do func(run int) error) (report.Row, error) {
	var series []usage
	for run := range runs {
		settle(ctx)
		start := time.Now()
		if err := do(run); err != nil {
			return report.Row{}, err
		}
		series = append(series, usage{elapsed: time.Since(start)})
	}
	row := summary(series)
	row.Tool = name
	return row, nil
}

// eachFile leaves out cotter's own directory, which contains the packages a second time.
func eachFile(dir string, use func(path string, file *os.File) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".cotter" {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return use(path, file)
	})
}

// cloneBare clones a tag without history and files: the least work of a tool that takes a package from
// git.
func cloneBare(ctx context.Context, p project, runs int) (report.Row, error) {
	return timed(ctx, cloningBare, runs, func(run int) error {
		cmd := exec.CommandContext(ctx, "git", "clone", "--quiet", "--bare", "--depth", "1", "--branch", "v1.0.0",
			p.servers.URL()+"/git/mono.git", p.file(fmt.Sprintf("clones/%d", run)))
		cmd.Env = append(append(os.Environ(), p.servers.Env()...), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git clone: %w: %s", err, out)
		}
		return nil
	})
}

// listAllRefs requests all refs, as clients of git's protocol version 1 do.
func listAllRefs(ctx context.Context, p project, _ int) (report.Row, error) {
	before := p.servers.BytesSent()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.servers.URL()+"/git/many.git/info/refs?service=git-upload-pack", nil)
	if err != nil {
		return report.Row{}, err
	}
	answer, err := p.servers.HTTPClient().Do(request)
	if err != nil {
		return report.Row{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return report.Row{}, fmt.Errorf("list of all refs: %s", answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return report.Row{Tool: "the list of all refs", Received: p.servers.BytesSent() - before}, err
}
