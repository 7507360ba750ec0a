package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter"
)

// projectsAtOnce is the maximum number of projects that are processed at the same time. Each
// of them processes many packages at the same time.
const projectsAtOnce = 8

// inProjects calls run for each of several projects, each with a separate output. The
// outputs are printed below the names of the directories, in the order of dirs. A failure
// does not affect other projects. The errors are *cotter.ProjectErrors, joined.
func (o *output) inProjects(ctx context.Context, dirs []string, run func(ctx context.Context, out *output, dir string) error) error {
	sections, failures := make([]*section, len(dirs)), make([]error, len(dirs))
	for i, dir := range dirs {
		sections[i] = newSection(o, dir)
	}
	var group errgroup.Group
	group.SetLimit(projectsAtOnce)
	go func() {
		for i, s := range sections {
			group.Go(func() error {
				defer close(s.done)
				if err := run(ctx, s.output, dirs[i]); err != nil {
					failures[i] = &cotter.ProjectError{Dir: dirs[i], Err: err}
				}
				return nil // other projects continue
			})
		}
	}()
	for _, s := range sections {
		<-s.done
		if err := s.print(o); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

// section is the output of a command for one of several projects.
type section struct {
	*output
	stdout, stderr bytes.Buffer
	done           chan struct{} // closed when the section is complete
}

func newSection(o *output, dir string) *section {
	s := &section{done: make(chan struct{})}
	own := *o
	own.stdout, own.stderr, own.project, own.conclusion = &s.stdout, &s.stderr, dir, ""
	s.output = &own
	return s
}

// print prints a complete section. In JSON each value names its project. In text all lines
// are indented below the project's directory.
func (s *section) print(o *output) error {
	if _, err := o.stderr.Write(s.stderr.Bytes()); err != nil {
		return err
	}
	text := s.stdout.String()
	if o.json {
		_, err := o.stdout.Write([]byte(text))
		return err
	}
	text = strings.Trim(text, "\n")
	if text == "" && s.conclusion == "" {
		return nil // it failed, and the error says why
	}
	o.printf("%s\n", strings.TrimSpace("- "+s.project+": "+s.conclusion))
	if text != "" {
		o.printf("    %s\n", lines(strings.ReplaceAll(text, "\n", "\n    ")))
	}
	return nil
}

// conclude prints the result for a whole project. If there are several projects, it becomes
// the heading of the project's section.
func (o *output) conclude(text string) {
	if o.project != "" {
		o.conclusion = text
		return
	}
	o.notef("%s\n", text)
}
