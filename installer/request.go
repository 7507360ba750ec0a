package installer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/rules/evidencerules"
)

// request is one run: a project, and what the run may do to it. Runs that only read have the zero
// InstallOptions, apart from what they read.
type request struct {
	Project
	InstallOptions
	// several says that other projects may have the calls and providers that the update names.
	several bool
}

func readingOf(p Project, scope Scope) request {
	return request{Project: p, InstallOptions: InstallOptions{Scope: scope}}
}

// InvalidOptionsError says that fields of a project or of options contradict each other, have values that they
// cannot have, or ask for what the method cannot do. Methods return it before they do anything.
type InvalidOptionsError struct {
	Fields []string // their names, such as "Locked" and "Update.All"
	Reason string
	Err    error // about the value of the only field, if there is one
}

func (e *InvalidOptionsError) Error() string {
	text := cmp.Or(e.Reason, "the options are not valid")
	if e.Reason == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if len(e.Fields) == 0 {
		return text
	}
	return fmt.Sprintf("%s (in the options: %s)", text, strings.Join(e.Fields, ", "))
}

func (e *InvalidOptionsError) Unwrap() error { return e.Err }

func (r request) check() error {
	updates := r.Update.fields()
	return firstBroken([]optionRule{
		{r.Locked && r.LockOnly, "a run cannot write only the lock and leave the lock as it is", []string{"Locked", "LockOnly"}},
		{r.Locked && len(updates) > 0, "a run that leaves the lock as it is cannot update", append([]string{"Locked"}, updates...)},
		{r.NoLock && r.LockContent != nil, "a run without a lock has no lock content", []string{"NoLock", "LockContent"}},
		{r.NoLock && r.LockFile != "", "a run without a lock has no lock file", []string{"NoLock", "LockFile"}},
		{r.LockContent != nil && r.LockFile != "", "the lock is either the content or the file", []string{"LockContent", "LockFile"}},
		{r.NoLock && r.Locked, "a run without a lock cannot install what the lock says", []string{"NoLock", "Locked"}},
		{r.NoLock && r.LockOnly, "a run without a lock cannot write it", []string{"NoLock", "LockOnly"}},
		{!isComment(r.LockHeader), "each line of the comment begins with \"#\"", []string{"LockHeader"}},
		{!r.Scope.modules() && len(r.Update.Keys) > 0, "the run does not touch modules", []string{"Scope", "Update.Keys"}},
		{!r.Scope.providers() && len(r.Update.Providers) > 0, "the run does not touch providers", []string{"Scope", "Update.Providers"}},
		{!r.Scope.providers() && r.PruneProviders, "the run does not touch providers", []string{"Scope", "PruneProviders"}},
		{r.Scope < ScopeModules || r.Scope > ScopeProviders, "there is no such scope", []string{"Scope"}},
		{!r.Update.To.IsZero() && len(r.Update.Keys)+len(r.Update.Providers) != 1, "a version to update to needs just one module call or provider to update", []string{"Update.To", "Update.Keys", "Update.Providers"}},
		{hasPath(r.Update.Keys, ""), "the root module cannot be updated", []string{"Update.Keys"}},
		{slices.Contains(r.Stores, nil), "a store is nil", []string{"Stores"}},
		{r.Layout < LayoutLinks || r.Layout > LayoutPortable, "there is no such layout", []string{"Layout"}},
		{!isDialect(r.Dialect), "there is no such dialect", []string{"Dialect"}},
		{!isDialect(r.Next), "there is no such dialect", []string{"Next"}},
	})
}

type optionRule struct {
	isBroken bool
	reason   string
	fields   []string
}

func firstBroken(rules []optionRule) error {
	for _, r := range rules {
		if r.isBroken {
			return &InvalidOptionsError{Fields: r.fields, Reason: r.reason}
		}
	}
	return nil
}

func isComment(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func (r request) checkWithLock() error {
	err := r.check()
	if err == nil && r.NoLock {
		err = &InvalidOptionsError{Fields: []string{"NoLock"}, Reason: "the run is about the entries of a lock"}
	}
	return err
}

// checkForSession refuses what needs the whole tree.
func (r request) checkForSession() error {
	return firstBroken([]optionRule{
		{r.Scope != ScopeModules, "a session is about modules", []string{"Scope"}},
		{r.Unify, "versions are shared by all calls of a tree, which a session does not know", []string{"Unify"}},
		{r.AllowConfigErrors, "a session reads no configuration", []string{"AllowConfigErrors"}},
	})
}

func (r request) checkForRestore() error {
	err := r.checkWithLock()
	if err == nil && r.LockContent != nil {
		err = &InvalidOptionsError{Fields: []string{"LockContent"}, Reason: "only a lock file can be restored"}
	}
	return err
}

func isDialect(d Dialect) bool { return d >= DialectAuto && d <= DialectTerraform }

func (r request) run() evidencerules.Run {
	if r.Locked {
		return evidencerules.Locked
	}
	return evidencerules.Install
}

// installs reports whether packages are put in their places, and placesModules whether those of modules are.
func (r request) installs() bool { return !r.DryRun && !r.LockOnly }

func (r request) placesModules() bool { return r.Scope.modules() && r.installs() }
