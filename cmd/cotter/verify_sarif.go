package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/repository"
)

// rule is a kind of finding, as code scanning lists it.
type rule struct {
	id, name, level string
	// severity is the security severity that GitHub sorts by, from 0 to 10, or "".
	severity string
	text     string
	help     string
}

// rules are the rules of verify. Their ids must not change: code scanning tracks findings
// by them.
var rules = []rule{
	{"changed", "PackageChanged", "error", "8.5", "An installed module or provider does not match the lock.",
		"Run `cotter install` to put the locked files back, and find out who changed them."},
	{"moved", "OriginMoved", "error", "8.5", "An origin now has other content under the same name than the lock.",
		"A tag, a version or an address now points to other content. Compare both before you run `cotter update --accept-changed KEY`."},
	{"policy", "PolicyViolation", "error", "7.0", "The policy does not allow a module or a provider.",
		"Change the source or the version, or the policy in cotter.hcl."},
	{"misplaced", "ManifestChanged", "error", "7.0", "modules.json points tofu and terraform to files other than the locked ones.",
		"Run `cotter install` to write it again, and find out who changed it."},
	{"stale", "LockStale", "error", "", "The lock does not fit the configuration.",
		"Run `cotter install` and commit the lock."},
	{"missing", "PackageMissing", "warning", "", "A locked module or provider is not installed.",
		"Run `cotter install --locked`."},
	{"unverifiable", "NotCompared", "warning", "", "Something could not be compared with the lock.",
		"The message gives the reason."},
	{"history", "CommitOutsideHistory", "note", "", "No branch or tag is known to contain a locked commit.",
		"The history of the repository was rewritten, or the lock was edited. Run `cotter update KEY` to lock what the address points to now."},
	{"unread", "ConfigurationNotRead", "note", "", "A part of the configuration could not be read and was not compared with the lock.",
		"The message gives the reason, such as a variable without a value."},
}

// sarifRules returns the rules in the form of a SARIF file.
func sarifRules() []sarifRule {
	var list []sarifRule
	for _, r := range rules {
		properties := map[string]any{"tags": []string{"security", "supply-chain"}, "precision": "very-high"}
		if r.severity != "" {
			properties["security-severity"] = r.severity
		}
		list = append(list, sarifRule{
			ID: "cotter/" + r.id, Name: r.name,
			Short: sarifText{r.text}, Full: sarifText{r.text}, Help: sarifText{r.help},
			Default: sarifLevel{r.level}, Properties: properties,
		})
	}
	return list
}

// sarifReport collects what verify finds in one or several projects, for code scanning.
// The methods of a nil *sarifReport do nothing.
type sarifReport struct {
	root string // the absolute directory that the names of files are relative to

	mu       sync.Mutex
	results  []sarifResult
	failures []sarifNotification
}

// newSARIFReport returns a report for the repository that contains a directory.
func newSARIFReport(dir string) (*sarifReport, error) {
	root, err := repository.Dir(dir)
	if err != nil {
		return nil, err
	}
	return &sarifReport{root: root}, nil
}

// write writes the report to a SARIF file, ordered by file and line.
func (f *sarifReport) write(name string) error {
	if f == nil {
		return nil
	}
	key := func(r sarifResult) string { return r.RuleID + "\x00" + r.Message.Text }
	slices.SortFunc(f.results, func(a, b sarifResult) int {
		at, bt := a.Locations[0].Physical, b.Locations[0].Physical
		return cmp.Or(cmp.Compare(at.Artifact.URI, bt.Artifact.URI), cmp.Compare(at.Region.StartLine, bt.Region.StartLine), cmp.Compare(key(a), key(b)))
	})
	slices.SortFunc(f.failures, func(a, b sarifNotification) int { return cmp.Compare(a.Message.Text, b.Message.Text) })
	return writeSARIF(name, f.results, f.failures)
}

// failed adds an error that kept a project from being verified. It ignores a statusError,
// which stands for findings that are in the report.
func (f *sarifReport) failed(req cotter.Request, err error) {
	if f == nil || err == nil || is[statusError](err) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range messages(err) {
		text := m.line()
		if req.Dir != "" {
			text = req.Dir + ": " + text
		}
		f.failures = append(f.failures, sarifNotification{"error", sarifText{text}})
	}
}

// report adds what verify found in a project.
func (f *sarifReport) report(req cotter.Request, report *cotter.Report) error {
	if f == nil {
		return nil
	}
	p, err := f.project(req)
	if err != nil {
		return err
	}
	for _, pkg := range report.Packages {
		if id := packageRule(pkg); id != "" {
			key := pkg.Path.String()
			f.add(p, id, "module", key, "module "+key+": "+packageText(pkg), p.entry(key))
		}
	}
	for _, provider := range report.Providers {
		if id := providerRule(provider); id != "" {
			name := provider.Provider.ForDisplay()
			f.add(p, id, "provider", name, "provider "+name+" "+provider.Version.String()+": "+providerStatusText(provider), p.providerEntry(provider.Provider))
		}
	}
	for id, errs := range map[string][]error{"stale": report.Stale, "misplaced": report.Misplaced, "policy": report.Refused, "unread": report.Unread} {
		for _, m := range flatten(errs) {
			kind, subject := "module", m.Module
			if m.Provider != "" {
				kind, subject = "provider", m.Provider
			}
			f.add(p, id, kind, subject, m.Summary+": "+m.Detail, p.call(m.Module, m.File, m.Line))
		}
	}
	if report.Unfinished {
		f.add(p, "unverifiable", "module", "", "An installation was interrupted while it was putting modules in place.", position{p.lockName, 1})
	}
	return nil
}

// origins adds what verify --remote found in a project.
func (f *sarifReport) origins(req cotter.Request, origins []comparedOrigin) error {
	if f == nil {
		return nil
	}
	p, err := f.project(req)
	if err != nil {
		return err
	}
	for _, o := range origins {
		at := p.call(o.Path.String(), o.Call.Range.Filename, o.Call.Range.Start.Line)
		switch key := o.Path.String(); {
		case o.Err != nil:
			f.add(p, "unverifiable", "module", key, "module "+key+": "+o.Err.Error(), at)
		case o.Moved():
			text := strings.TrimSpace(o.Package+" "+comparedName(o.ModuleOrigin)) + " has OTHER CONTENT than the lock (" + short(o.Locked) + " -> " + short(o.Now) + ")"
			if o.Vendored != "" && comparedName(o.ModuleOrigin) == "" {
				text = o.moved()
			}
			f.add(p, "moved", "module", key, "module "+key+": "+text, at)
		case !o.OK():
			f.add(p, "unverifiable", "module", key, "module "+key+": its origin was not asked", at)
		}
		if note := o.note(); note != "" {
			f.add(p, "history", "module", o.Path.String(), "module "+o.Path.String()+": "+note, at)
		}
	}
	return nil
}

// originsOfProviders adds what verify --remote found about the providers of a project.
func (f *sarifReport) originsOfProviders(req cotter.Request, providers []cotter.ProviderOrigin) error {
	if f == nil {
		return nil
	}
	p, err := f.project(req)
	if err != nil {
		return err
	}
	for _, o := range providers {
		name := o.Provider.ForDisplay()
		at := p.providerEntry(o.Provider)
		switch {
		case o.Err != nil:
			f.add(p, "unverifiable", "provider", name, o.Err.Error(), at)
		case o.Moved():
			f.add(p, "moved", "provider", name, "provider "+name+" "+o.Version.String()+": "+originProviderText(o), at)
		}
	}
	return nil
}

// packageRule returns the id of the rule that a package breaks, or "".
func packageRule(p cotter.PackageReport) string {
	switch {
	case p.Err != nil && p.Changes.Empty():
		return "unverifiable"
	case p.Status == cotter.StatusUnlocked:
		return "stale"
	case p.Status == cotter.StatusChanged, p.Status == cotter.StatusFormer:
		return "changed"
	case p.Status == cotter.StatusMissing:
		return "missing"
	case !matches(p):
		return "unverifiable"
	}
	return ""
}

// providerRule returns the id of the rule that a provider breaks, or "".
func providerRule(p cotter.ProviderReport) string {
	switch {
	case errors.Is(p.Err, cotter.ErrNoComparableHash):
		return "unverifiable"
	case p.Status == cotter.StatusMissing:
		return "missing"
	case p.Status == cotter.StatusChanged, p.Status == cotter.StatusFormer:
		return "changed"
	case !providerMatches(p):
		return "unverifiable"
	}
	return ""
}

// maxFindingFiles is the maximum number of files that the text of a finding names.
const maxFindingFiles = 20

// packageText describes what is wrong with a package, and names the files.
func packageText(p cotter.PackageReport) string {
	text := statusText(p)
	named := 0
	for _, group := range changedFiles(reportedFiles(p)) {
		for _, file := range group.files {
			if named++; named > maxFindingFiles {
				return text + "\n    ..."
			}
			text += "\n    " + group.label + " " + file
		}
	}
	return text
}

// add adds a finding about a module or a provider of a project. The finding's fingerprint
// does not depend on lines and versions.
func (f *sarifReport) add(p *scannedProject, id, kind, subject, text string, at position) {
	index := slices.IndexFunc(rules, func(r rule) bool { return r.id == id })
	location := sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{sarifURI(path.Join(p.dir, at.file)), sarifRoot},
		Region:   sarifRegion{max(1, at.line)},
	}}
	if subject != "" {
		location.Logical = []sarifLogical{{subject, kind}}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{id, p.dir, kind, subject}, "\x00")))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results = append(f.results, sarifResult{
		RuleID: "cotter/" + id, RuleIndex: index, Level: rules[index].level,
		Message:      sarifText{text},
		Locations:    []sarifLocation{location},
		Fingerprints: map[string]string{"cotter/v1": hex.EncodeToString(sum[:16])},
	})
}

// position is a line in a file of a project.
type position struct {
	file string // relative to the root module, with slashes
	line int
}

// scannedProject finds the positions of a project's parts in the repository.
type scannedProject struct {
	dir      string // relative to the root of the repository, with slashes
	lockName string // relative to dir, with slashes
	lock     *lockfile.File
}

func (f *sarifReport) project(req cotter.Request) (*scannedProject, error) {
	dir, err := filepath.Abs(cmp.Or(req.Dir, "."))
	if err != nil {
		return nil, err
	}
	rel := func(base, name string) string {
		if at, err := filepath.Rel(base, name); err == nil {
			return filepath.ToSlash(at)
		}
		return filepath.ToSlash(name) // on another drive
	}
	name := cmp.Or(req.LockFile, stockLockName)
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	lock, err := readLock(name)
	return &scannedProject{dir: rel(f.root, dir), lockName: rel(dir, name), lock: lock}, err
}

// entry returns the position of a module's entry in the lock.
func (p *scannedProject) entry(key string) position {
	entry, _ := p.lock.Module(key)
	return position{p.lockName, entry.Range.Start.Line}
}

// providerEntry returns the position of a provider's entry in the lock, or of the lock's first
// line if there is no entry.
func (p *scannedProject) providerEntry(provider addrs.Provider) position {
	for _, entry := range p.lock.Providers() {
		if entry.Address == provider {
			return position{p.lockName, entry.Range.Start.Line}
		}
	}
	return position{p.lockName, 1}
}

// call returns the position of a module call. The files of installed modules are not in the
// repository: for a call in them, it returns the position of the entry in the lock.
func (p *scannedProject) call(key, file string, line int) position {
	if file == "" || slices.Contains(strings.Split(file, "/"), ".terraform") {
		return p.entry(key)
	}
	return position{file, line}
}
