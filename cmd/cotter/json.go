package main

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
)

func (o *output) writeJSON(r records.Record) error { return o.writeProjectJSON(o.Project, r) }

// writeProjectJSON writes a record as a line to stdout. project is "" if the run has only one.
func (o *output) writeProjectJSON(project string, r records.Record) error {
	return o.writeLine(project, r, nil)
}

// result keeps the result of the run on this output's project for end. There is at most one: a later one
// replaces it.
func (o *output) result(r records.Record) { o.kept = r }

// end writes the result that was kept, and returns err, with which the run has ended.
func (o *output) end(err error) error {
	r := o.kept
	if o.kept = nil; r == nil {
		return err
	}
	if failed := o.writeResult(o.Project, r, err); failed != nil {
		return errors.Join(failed, err)
	}
	return err
}

// writeResult writes the result of a run that has ended with err. What is known beside a failure is not OK.
func (o *output) writeResult(project string, r records.Record, err error) error {
	ok := !isFailure(err)
	return o.writeLine(project, r, &ok)
}

func (o *output) writeLine(project string, r records.Record, ok *bool) error {
	begin, err := encodeJSON(records.Envelope{V: records.FormatVersion, Type: records.KindOf(r), Project: project, OK: ok})
	if err != nil {
		return err
	}
	fields, err := encodeJSON(r)
	if err != nil {
		return err
	}
	// Both are objects, and a record has at least one field.
	_, err = io.WriteString(o.stdout, view.EscapeJSON(strings.TrimSuffix(begin, "}")+","+strings.TrimPrefix(fields, "{")+"\n"))
	return err
}

func encodeJSON(value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func (o *output) jsonReport(report *installer.Report) records.Report {
	return records.Report{
		Unfinished:  report.Unfinished,
		Unproven:    report.Unproven,
		Refused:     o.failures(report.Refused),
		Stale:       o.failures(report.Stale),
		Misplaced:   o.failures(report.Misplaced),
		Unread:      o.failures(report.Unread),
		Packages:    records.Packages(report.Packages),
		Directories: report.Directories,
		Providers:   records.ProviderReports(report.Providers),
	}
}

// jsonWarning is about the project in dir, which is "" if there is only one.
func (o *output) jsonWarning(dir string, w event.Warning) records.Record {
	return records.Warning{Key: w.Path.String(), Message: warningText(w), Remedy: strings.Join(o.AdviceLines(advice.WarningRemedies(dir, w)), " ")}
}

// jsonEvent returns nil for events without a record. dir is "" if there is only one project.
func (o *output) jsonEvent(dir string, ev installer.Event) records.Record {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package == "" {
			return nil // a local module
		}
	case event.Warning:
		return o.jsonWarning(dir, e)
	case event.UnexpectedFiles:
		return records.UnexpectedFiles{Key: e.Path.String(), Provider: e.Provider, Replaced: e.Replaced, Files: records.FilesOf(e.Files)}
	}
	if slices.ContainsFunc(records.All, func(r records.Record) bool { return reflect.TypeOf(r) == reflect.TypeOf(ev) }) {
		return ev
	}
	return nil
}
