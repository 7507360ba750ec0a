package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/cli/view"
)

const (
	formatText     = "text"
	formatJSON     = "json"
	formatMarkdown = "markdown"
)

// pictures are the formats that package graph draws besides text.
var pictures = map[string]func(graph.Graph) (string, error){
	"mermaid": func(g graph.Graph) (string, error) { return g.Mermaid(), nil },
	"dot":     func(g graph.Graph) (string, error) { return g.DOT(), nil },
	"html":    graph.Graph.HTML,
}

var formatEndings = map[string]string{
	".txt": formatText, ".json": formatJSON, ".md": formatMarkdown,
	".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".html": "html", ".htm": "html",
}

// formatFlags is for commands with several formats, which usage lists.
func formatFlags(usage string) []addFlag {
	return []addFlag{
		text("format", "print `FORMAT`: "+usage+"; the default is that of the ending of --out, or text"),
		text("out", "write to `FILE` instead of standard output"),
	}
}

// formatOf returns the format of --format, of the flag of its name, such as --json, or of the ending of --out.
// others are formats besides text, JSON and pictures.
func formatOf(cmd *invocation, out *output, others ...string) (string, error) {
	name := cmd.String("format")
	for _, short := range append([]string{formatJSON}, others...) {
		switch {
		case !cmd.Bool(short):
		case name != "" && name != short:
			return "", usageError{fmt.Errorf("--%s and --format %s cannot be used together", short, name)}
		default:
			name = short
		}
	}
	known := slices.Concat([]string{formatText, formatJSON}, others, slices.Sorted(maps.Keys(pictures)))
	if file := cmd.String("out"); name == "" && file != "" {
		if name = formatEndings[strings.ToLower(filepath.Ext(file))]; !slices.Contains(known, name) {
			return "", usageError{advice.Hinted(fmt.Errorf("--out %s: no format has the ending %q", file, filepath.Ext(file)), "Add `--format` with one of: "+strings.Join(known, ", ")+".")}
		}
	}
	if name = cmp.Or(name, formatText); !slices.Contains(known, name) {
		return "", usageError{fmt.Errorf("--format takes %s, got %q", view.Alternatives(known), name)}
	}
	if name == formatJSON {
		out.json, out.quiet, out.verbose = true, false, false
	}
	return name, nil
}

func (o *output) picture(format string, g graph.Graph) error {
	text, err := pictures[format](g)
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.stdout, text)
	return err
}

// toFile writes what print prints to a file, unless name is "", or print fails without a result.
func (o *output) toFile(name string, print func() error) error {
	if name == "" {
		return print()
	}
	var text bytes.Buffer
	stdout, columns := o.stdout, o.columns
	o.stdout, o.columns = &text, 0
	err := o.end(print())
	if o.stdout, o.columns = stdout, columns; err != nil && text.Len() == 0 {
		return err
	}
	return errors.Join(os.WriteFile(name, text.Bytes(), 0o644), err)
}
