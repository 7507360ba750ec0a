package main

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
)

func (o *output) writeJSON(r record) error { return o.writeProjectJSON(o.project, r) }

// writeProjectJSON writes a record as a line to stdout. project is "" if the run has only one.
func (o *output) writeProjectJSON(project string, r record) error {
	begin, err := encodeJSON(envelope{jsonVersion, r.kind(), project})
	if err != nil {
		return err
	}
	var value any = r
	if e, ok := r.(eventRecord); ok {
		value = e.Event
	}
	fields, err := encodeJSON(value)
	if err != nil {
		return err
	}
	// Both are objects, and a record has at least one field.
	_, err = io.WriteString(o.stdout, escapeJSON(strings.TrimSuffix(begin, "}")+","+strings.TrimPrefix(fields, "{")+"\n"))
	return err
}

func encodeJSON(value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// jsonModule is a module in the output of tree and install.
type jsonModule struct {
	Key    string `json:"key"`
	Source string `json:"source"`
	// Replaces is the source in the configuration, if cotter.hcl replaces it by Source.
	Replaces string `json:"replaces,omitempty"`
	Version  string `json:"version,omitempty"`
	// Constraint is the version constraint of the call, if it has one.
	Constraint string   `json:"constraint,omitempty"`
	Package    string   `json:"package,omitempty"`
	Hashes     []string `json:"hashes,omitempty"`
	Dir        string   `json:"dir,omitempty"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"`
	// NotInstalled is the reason why the module is not in place, in the output of tree. The version
	// and the package are then those in the lock.
	NotInstalled string `json:"not_installed,omitempty"`
	// Evidence is who confirms the package. It is absent for local modules and if nothing confirms it,
	// and is only in the results of installations and of tree --evidence.
	Evidence evidence.Evidence `json:"evidence,omitzero"`

	shown, confirmed string // Source and Evidence as shown in text
}

func jsonOf(m installer.Module) jsonModule {
	j := jsonModule{
		Key:        m.Path.String(),
		Source:     addrs.Redact(m.Source.String()),
		Version:    m.Version.String(),
		Constraint: constraintOf(m.Call),
		Package:    m.Package.String(),
		Dir:        m.Dir,
		File:       m.Call.Range.Filename,
		Line:       m.Call.Range.Start.Line,
		shown:      addrs.Redact(m.Source.ForDisplay()),
	}
	if m.Replaces != nil {
		j.Replaces = m.Replaces.String()
	}
	for _, h := range m.Hashes {
		j.Hashes = append(j.Hashes, string(h))
	}
	return j
}

func jsonModules(modules []installer.Module, withEvidence bool) []jsonModule {
	list := []jsonModule{}
	for _, m := range modules {
		j := jsonOf(m)
		if withEvidence && hasPackage(m) {
			j.Evidence, j.confirmed = m.Evidence, confirmedText(m.Evidence)
		}
		list = append(list, j)
	}
	return list
}

// jsonResult returns the last record of an installation, of the type that function done returns.
func jsonResult(done string, result *installer.Result) record {
	return resultRecord{
		done, result.Dialect.String(), jsonModules(result.Modules, true), jsonChanges(result.LockChanges), jsonUpdates(result.Updates),
		keysOf(result.Restored), result.EarlierLock, result.Vendored,
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
	// Vendored is the package's directory in the repository, if the package is vendored.
	Vendored string `json:"vendored,omitempty"`
	// Unconfirmed is true if nothing has confirmed the lock entry on this machine. Vendored
	// packages need no confirmation.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Evidence is who confirms the lock entry. It is absent if nothing does.
	Evidence evidence.Evidence `json:"evidence,omitzero"`
	Want     []string          `json:"want,omitempty"`
	Got      []string          `json:"got,omitempty"`
	Changed  []string          `json:"changed,omitempty"`
	Vanished []string          `json:"vanished,omitempty"`
	Added    []string          `json:"added,omitempty"`
	Error    string            `json:"error,omitempty"`
}

func jsonReport(report *installer.Report, ok bool) record {
	packages := []jsonPackage{}
	for _, p := range report.Packages {
		j := jsonPackage{
			Key:         p.Path.String(),
			Status:      p.Status.String(),
			Vendored:    p.Vendored,
			Unconfirmed: p.Unconfirmed,
			Changed:     p.Changes.Changed,
			Vanished:    p.Changes.Vanished,
			Added:       p.Changes.Added,
		}
		if p.Former.Key != "" {
			j.Former = releaseName(p.Former)
		}
		if p.Status != installer.StatusUnlocked {
			j.Evidence = p.Evidence
		}
		for i := range p.Want {
			j.Want, j.Got = append(j.Want, string(p.Want[i])), append(j.Got, string(p.Got[i]))
		}
		if p.Err != nil {
			j.Error = p.Err.Error()
		}
		packages = append(packages, j)
	}
	return reportRecord{ok, report.Unfinished, report.Unproven, flatten(report.Refused), flatten(report.Stale), flatten(report.Misplaced), flatten(report.Unread), packages, report.Directories, jsonProviderReports(report.Providers)}
}

type eventRecord struct{ event.Event }

var eventKinds = map[reflect.Type]string{
	reflect.TypeFor[event.Resolved](): "resolved", reflect.TypeFor[event.FetchStarted](): "fetch_started", reflect.TypeFor[event.FetchProgress](): "fetch_progress",
	reflect.TypeFor[event.FetchDone](): "fetch_done", reflect.TypeFor[event.WaitingForFetch](): "waiting_for_fetch", reflect.TypeFor[event.ProviderProgress](): "provider_progress",
	reflect.TypeFor[event.HashVerified](): "hash_verified", reflect.TypeFor[event.ModuleInstalled](): "module_installed",
	reflect.TypeFor[event.ProviderInstalled](): "provider_installed", reflect.TypeFor[event.LockFileWritten](): "lock_file_written", reflect.TypeFor[event.Waiting](): "waiting",
}

func (r eventRecord) kind() string { return eventKinds[reflect.TypeOf(r.Event)] }

// jsonEvent returns nil for events without a record.
func jsonEvent(ev installer.Event) record {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package == "" {
			return nil // a local module
		}
	case event.Warning:
		return warningRecord{e.Path.String(), warningText(e), strings.Join(remedyLines(warningRemedies("", e)), " ")}
	case event.UnexpectedFiles:
		return unexpectedFilesRecord{e.Path.String(), e.Provider, e.Replaced, e.Files.Changed, e.Files.Vanished, e.Files.Added}
	}
	if r := (eventRecord{ev}); r.kind() != "" {
		return r
	}
	return nil
}
