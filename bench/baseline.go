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
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// readAndHash reads and hashes every file of the installed modules, one after
// another, in this process. Nothing that verifies them can do with less.
func readAndHash(_ context.Context, p project, runs int) (report.Row, error) {
	sum := sha256.New()
	row, err := timed(runs, func() error {
		return eachFile(p.file(installed), func(_ string, file *os.File) error {
			sum.Reset()
			_, err := io.Copy(sum, file)
			return err
		})
	})
	row.Tool = "reading and hashing the files"
	return row, err
}

// copyFiles copies them, one after another. Nothing that puts them there can do
// with much less where the file system does not share blocks.
func copyFiles(ctx context.Context, p project, runs int) (report.Row, error) {
	to := p.file("copies")
	row, err := timed(runs, func() error {
		if err := p.place.discard(to); err != nil {
			return err
		}
		settle(ctx)
		return nil
	}, func() error { return copyTree(p.file(installed), to) })
	row.Tool = "copying the files"
	return row, errors.Join(err, p.place.discard(to))
}

const installed = "project/.terraform/modules"

// timed runs the last of the steps several times and takes its time.
func timed(runs int, steps ...func() error) (report.Row, error) {
	var series []usage
	for range runs {
		var start time.Time
		for _, step := range steps {
			start = time.Now()
			if err := step(); err != nil {
				return report.Row{}, err
			}
		}
		series = append(series, usage{elapsed: time.Since(start)})
	}
	return summary(series), nil
}

func copyTree(from, to string) error {
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
}

// eachFile opens every file below a directory but those in cotter's own
// directory, which holds the packages once more.
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

// listAllRefs asks for the refs of the world's repository as clients of git's
// first protocol do, who get all of them.
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
