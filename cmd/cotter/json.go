package main

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/lists"
	"github.com/cotterpin/cotter/internal/textform"
	"github.com/hashicorp/hcl/v2"
)

func (o *output) writeJSON(r record) error { return o.writeProjectJSON(o.Project, r) }

// writeProjectJSON writes a record as a line to stdout. project is "" if the run has only one.
func (o *output) writeProjectJSON(project string, r record) error {
	return o.writeLine(project, r, nil)
}

// result keeps the result of the run on this output's project for end. There is at most one: a later one
// replaces it.
func (o *output) result(r record) { o.kept = r }

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
func (o *output) writeResult(project string, r record, err error) error {
	ok := !isFailure(err)
	return o.writeLine(project, r, &ok)
}

func (o *output) writeLine(project string, r record, ok *bool) error {
	begin, err := encodeJSON(envelope{jsonVersion, kindOf(r), project, ok})
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

// jsonPlace is a place in the configuration.
type jsonPlace struct {
	File textform.Path `json:"file,omitempty"`
	Line int           `json:"line,omitempty"`
}

func placeOf(at hcl.Range) jsonPlace { return jsonPlace{textform.Path(at.Filename), at.Start.Line} }

// jsonFiles are the files that differ, as far as they are known.
type jsonFiles struct {
	Changed  []textform.Path `json:"changed,omitempty"`
	Vanished []textform.Path `json:"vanished,omitempty"`
	Added    []textform.Path `json:"added,omitempty"`
}

func filesOf(c hashing.Changes) jsonFiles {
	return jsonFiles{textform.Paths(c.Changed), textform.Paths(c.Vanished), textform.Paths(c.Added)}
}

// errorText returns "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// jsonModule is a module in the output of tree and install.
type jsonModule struct {
	Key    string `json:"key"`
	Source string `json:"source"`
	// Replaces is the source in the configuration, if cotter.hcl replaces it by Source.
	Replaces string `json:"replaces,omitempty"`
	Version  string `json:"version,omitempty"`
	// Constraint is the version constraint of the call, if it has one.
	Constraint string         `json:"constraint,omitempty"`
	Package    string         `json:"package,omitempty"`
	Hashes     []hashing.Hash `json:"hashes,omitempty"`
	Dir        string         `json:"dir,omitempty"`
	jsonPlace
	// NotInstalled is the reason why the module is not in place, in the output of tree. The version
	// and the package are then those in the lock.
	NotInstalled string `json:"not_installed,omitempty"`
	// Evidence is who confirms the package. It is absent for local modules and if nothing confirms it,
	// and is only in the results of installations and of tree --evidence.
	Evidence evidence.Evidence `json:"evidence,omitzero"`

	shown, confirmed string // Source and Evidence as shown in text
}

func jsonModules(modules []installer.Module, withEvidence bool) []jsonModule {
	return lists.Map(modules, func(m installer.Module) jsonModule {
		j := jsonModule{
			Key:        m.Path.String(),
			Source:     addrs.Redact(m.Source.String()),
			Version:    m.Version.String(),
			Constraint: constraintOf(m.Call),
			Package:    m.Package.String(),
			Hashes:     m.Hashes,
			Dir:        m.Dir,
			jsonPlace:  placeOf(m.Call.Range),
			shown:      addrs.Redact(m.Source.ForDisplay()),
		}
		if m.Replaces != nil {
			j.Replaces = m.Replaces.String()
		}
		if withEvidence && hasPackage(m) {
			j.Evidence, j.confirmed = m.Evidence, confirmedText(m.Evidence)
		}
		return j
	})
}

// jsonResult returns the last record of an installation, of the type that function done returns.
func jsonResult(done string, result *installer.Result) record {
	return resultRecord{
		done, result.Dialect.String(), jsonModules(result.Modules, true), jsonChanges(result.LockChanges), jsonUpdates(result.Updates),
		keysOf(result.Restored), result.EarlierLock,
		jsonProviders(result.Providers), jsonProviderChanges(result.ProviderChanges), jsonProviderChanges(result.ProviderUpdates),
		result.Refetched,
	}
}

// jsonPackage is a package in the output of verify.
type jsonPackage struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	// Former is the version or package that is installed if it is exactly what this user's last
	// run installed, and the lock has another one (the status is "former") or none.
	Former string `json:"former,omitempty"`
	// Unconfirmed is true if nothing has confirmed the lock entry on this machine.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Evidence is who confirms the lock entry. It is absent if nothing does.
	Evidence evidence.Evidence `json:"evidence,omitzero"`
	Want     []hashing.Hash    `json:"want,omitempty"`
	Got      []hashing.Hash    `json:"got,omitempty"`
	jsonFiles
	Error string `json:"error,omitempty"`
}

func (o *output) jsonReport(report *installer.Report) reportRecord {
	packages := lists.Map(report.Packages, func(p installer.PackageReport) jsonPackage {
		j := jsonPackage{
			Key:         p.Path.String(),
			Status:      p.Status.String(),
			Unconfirmed: p.Unconfirmed,
			Want:        p.Want,
			Got:         p.Got,
			jsonFiles:   filesOf(p.Changes),
			Error:       errorText(p.Err),
		}
		if p.Former.Key != "" {
			j.Former = releaseName(p.Former)
		}
		if p.Status != installer.StatusUnlocked {
			j.Evidence = p.Evidence
		}
		return j
	})
	return reportRecord{
		report.Unfinished, report.Unproven, o.failures(report.Refused), o.failures(report.Stale), o.failures(report.Misplaced), o.failures(report.Unread),
		packages, report.Directories, jsonProviderReports(report.Providers), nil, nil,
	}
}

// jsonWarning is about the project in dir, which is "" if there is only one.
func (o *output) jsonWarning(dir string, w event.Warning) record {
	return warningRecord{w.Path.String(), warningText(w), strings.Join(o.AdviceLines(advice.WarningRemedies(dir, w)), " ")}
}

// jsonEvent returns nil for events without a record. dir is "" if there is only one project.
func (o *output) jsonEvent(dir string, ev installer.Event) record {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package == "" {
			return nil // a local module
		}
	case event.Warning:
		return o.jsonWarning(dir, e)
	case event.UnexpectedFiles:
		return unexpectedFilesRecord{e.Path.String(), e.Provider, e.Replaced, filesOf(e.Files)}
	}
	if slices.ContainsFunc(records, func(r record) bool { return reflect.TypeOf(r) == reflect.TypeOf(ev) }) {
		return ev
	}
	return nil
}
