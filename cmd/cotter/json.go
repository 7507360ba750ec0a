package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// writeJSON writes one value on one line of stdout.
func (o *output) writeJSON(value any) error {
	if o.project != "" {
		value = inProject{o.project, value}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(o.stdout, escapeJSON(text.String()))
	return err
}

// jsonModule is a module in the output of list, tree and install.
type jsonModule struct {
	Key     string       `json:"key"`
	Source  string       `json:"source"`
	Version string       `json:"version,omitempty"`
	Package string       `json:"package,omitempty"`
	Hashes  []string     `json:"hashes,omitempty"`
	Dir     string       `json:"dir"`
	File    string       `json:"file,omitempty"`
	Line    int          `json:"line,omitempty"`
	Modules []jsonModule `json:"modules,omitempty"`
}

func jsonOf(m cotter.Module) jsonModule {
	j := jsonModule{
		Key:     m.Path.String(),
		Source:  addrs.Redact(m.Source.String()),
		Version: m.Version,
		Package: m.Package,
		Dir:     m.Dir,
		File:    m.Call.Range.Filename,
		Line:    m.Call.Range.Start.Line,
	}
	for _, h := range m.Hashes {
		j.Hashes = append(j.Hashes, string(h))
	}
	return j
}

func jsonModules(modules []cotter.Module) []jsonModule {
	list := []jsonModule{}
	for _, m := range modules {
		list = append(list, jsonOf(m))
	}
	return list
}

// jsonTree is jsonModules with each module inside the one that calls it.
func jsonTree(result *cotter.Result, path addrs.Module) []jsonModule {
	list := []jsonModule{}
	for _, m := range result.Children(path) {
		j := jsonOf(m)
		j.Modules = jsonTree(result, m.Path)
		list = append(list, j)
	}
	return list
}

// jsonResult is the end of an installation; see done.
func jsonResult(done string, result *cotter.Result) any {
	return struct {
		Type    string       `json:"type"`
		Dialect string       `json:"for"`
		Modules []jsonModule `json:"modules"`
		Changes []jsonChange `json:"changes,omitempty"`

		Vendored        []jsonVendored       `json:"vendored,omitempty"`
		Providers       []jsonProvider       `json:"providers,omitempty"`
		ProviderChanges []jsonProviderChange `json:"provider_changes,omitempty"`
	}{
		done, result.Dialect.String(), jsonModules(result.Modules), jsonChanges(result.LockChanges), jsonVendorChanges(result.Vendored),
		jsonProviders(result.Providers), jsonProviderChanges(result.ProviderChanges),
	}
}

// jsonPackage is a package in the output of verify.
type jsonPackage struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	// Vendored is the package's directory, if it is in the repository.
	Vendored string `json:"vendored,omitempty"`
	// Unconfirmed says that no origin has confirmed the entry here.
	Unconfirmed bool     `json:"unconfirmed,omitempty"`
	Want        []string `json:"want,omitempty"`
	Got         []string `json:"got,omitempty"`
	Changed     []string `json:"changed,omitempty"`
	Vanished    []string `json:"vanished,omitempty"`
	Added       []string `json:"added,omitempty"`
	Error       string   `json:"error,omitempty"`
}

func jsonReport(report *cotter.Report) any {
	packages := []jsonPackage{}
	for _, p := range report.Packages {
		j := jsonPackage{
			Key:         p.Key,
			Status:      p.Status.String(),
			Vendored:    p.Vendored,
			Unconfirmed: p.Unconfirmed,
			Changed:     p.Changes.Changed,
			Vanished:    p.Changes.Vanished,
			Added:       p.Changes.Added,
		}
		for i := range p.Want {
			j.Want, j.Got = append(j.Want, string(p.Want[i])), append(j.Got, string(p.Got[i]))
		}
		if p.Err != nil {
			j.Error = p.Err.Error()
		}
		packages = append(packages, j)
	}
	return struct {
		OK         bool          `json:"ok"`
		Unfinished bool          `json:"unfinished,omitempty"`
		Unproven   []string      `json:"unproven,omitempty"`
		Refused    []message     `json:"refused,omitempty"`
		Stale      []message     `json:"stale,omitempty"`
		Misplaced  []message     `json:"misplaced,omitempty"`
		Unread     []message     `json:"unread,omitempty"`
		Packages   []jsonPackage `json:"packages"`

		Providers []jsonProviderReport `json:"providers,omitempty"`
	}{report.OK(), report.Unfinished, report.Unproven, flatten(report.Refused), flatten(report.Stale), flatten(report.Misplaced), flatten(report.Unread), packages, jsonProviderReports(report.Providers)}
}

// jsonEvent is an event of install as one JSON object; the type comes first.
func jsonEvent(event cotter.Event) any {
	switch e := event.(type) {
	case cotter.Resolved:
		return struct {
			Type    string `json:"type"`
			Key     string `json:"key"`
			Source  string `json:"source"`
			Version string `json:"version,omitempty"`
			Locked  bool   `json:"locked"`
		}{"resolved", e.Path.String(), addrs.Redact(e.Source.String()), e.Version, e.Locked}
	case cotter.FetchStarted:
		return struct {
			Type    string `json:"type"`
			Package string `json:"package"`
		}{"fetch_started", e.Package}
	case cotter.FetchProgress:
		return struct {
			Type    string `json:"type"`
			Package string `json:"package"`
			Done    int64  `json:"done"`
			Total   int64  `json:"total,omitempty"`
		}{"fetch_progress", e.Package, e.Done, e.Total}
	case cotter.FetchDone:
		return struct {
			Type    string `json:"type"`
			Package string `json:"package"`
			Bytes   int64  `json:"bytes"`
		}{"fetch_done", e.Package, e.Bytes}
	case cotter.ProviderProgress:
		return struct {
			Type     string `json:"type"`
			Provider string `json:"provider"`
			Version  string `json:"version"`
			Platform string `json:"platform"`
			Done     int64  `json:"done"`
			Total    int64  `json:"total,omitempty"`
		}{"provider_progress", e.Provider.String(), e.Version, e.Platform.String(), e.Done, e.Total}
	}
	return jsonOutcome(event)
}

// jsonOutcome is jsonEvent for the events that tell of results.
func jsonOutcome(event cotter.Event) any {
	switch e := event.(type) {
	case cotter.HashVerified:
		return struct {
			Type string `json:"type"`
			Key  string `json:"key"`
		}{"hash_verified", e.Path.String()}
	case cotter.ModuleInstalled:
		return struct {
			Type string `json:"type"`
			Key  string `json:"key"`
			Dir  string `json:"dir"`
		}{"module_installed", e.Path.String(), e.Dir}
	case cotter.ProviderInstalled:
		return struct {
			Type     string `json:"type"`
			Provider string `json:"provider"`
			Version  string `json:"version"`
			Dir      string `json:"dir"`
			KeyID    string `json:"key_id,omitempty"`
		}{"provider_installed", e.Provider.String(), e.Version, e.Dir, e.KeyID}
	case cotter.LockFileWritten:
		return struct {
			Type    string `json:"type"`
			File    string `json:"file"`
			Created bool   `json:"created"`
		}{"lock_file_written", e.File, e.Created}
	case cotter.Waiting:
		return struct {
			Type string `json:"type"`
			Dir  string `json:"dir"`
		}{"waiting", e.Dir}
	case cotter.WaitingForFetch:
		return struct {
			Type    string `json:"type"`
			Package string `json:"package"`
		}{"waiting_for_fetch", e.Package}
	case cotter.Warning:
		return struct {
			Type    string `json:"type"`
			Key     string `json:"key,omitempty"`
			Message string `json:"message"`
			Remedy  string `json:"remedy,omitempty"`
		}{"warning", e.Path.String(), e.Message, warningRemedy(e.Kind)}
	}
	return nil
}
