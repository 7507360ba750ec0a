package installer

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project/detect"
)

// DialectError says that the stock tools read different calls or provider requirements in the project's own
// modules, because files such as main.tofu are for one of them, and that neither [Project.Dialect] nor the hosts in
// the lock, which is for one tool, say that the other one is not used.
type DialectError struct {
	Dialect     Dialect // whose files were read
	Differences []DialectDifference
}

// DialectDifference is a module call or a required provider that the stock tools read differently.
type DialectDifference struct {
	Module  addrs.Module // the module whose files differ
	Subject string       // the call or the provider: "module app.net", "provider acme/cloud"
	// OpenTofu and Terraform are the source and version, or the version constraint, that each tool reads at its
	// range. Both are empty if the tool does not read the call or the requirement.
	OpenTofu, Terraform           string
	OpenTofuRange, TerraformRange hcl.Range
}

func (d DialectDifference) String() string {
	return fmt.Sprintf("%s: %s for tofu, %s for terraform", d.Subject, readAs(d.OpenTofu, d.OpenTofuRange), readAs(d.Terraform, d.TerraformRange))
}

func readAs(text string, at hcl.Range) string {
	if at.Filename == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s (%s:%d)", text, at.Filename, at.Start.Line)
}

func (e *DialectError) Error() string {
	text := fmt.Sprintf("tofu and terraform read different files here, and the lock is only for what %s reads", e.Dialect)
	for _, d := range e.Differences {
		text += "\n  " + d.String()
	}
	return text
}

// warning returns the warning for a run that goes on. It needs no action if the tool is settled.
func (e *DialectError) warning(settled bool) event.Warning {
	w := event.Warning{Kind: event.WarningDialectFiles, Message: e.Error()}
	if settled {
		w.Kind = ""
	}
	return w
}

// checkForms returns a warning if the stock tools read the project's own modules differently, or an error if
// the lock must fit and nothing settles which tool the project is for.
func (p *openProject) checkForms(ctx context.Context, modules []*module) (event.Warning, error) {
	found, err := p.compareForms(ctx, modules)
	if err != nil || found == nil {
		return event.Warning{}, err
	}
	settled := p.isSettled(ctx)
	if p.req.Locked && !settled {
		return event.Warning{}, found
	}
	return found.warning(settled), nil
}

// compareForms returns nil if the stock tools read the same in the project's own modules.
func (p *openProject) compareForms(ctx context.Context, modules []*module) (*DialectError, error) {
	own := []*module{p.RootModule()}
	for _, m := range modules {
		if m.Package == nil {
			own = append(own, m)
		}
	}
	pairs := make(map[string]*configread.Forms) // by directory
	own = slices.DeleteFunc(own, func(m *module) bool {
		if _, ok := pairs[m.CurrentPath]; !ok {
			pairs[m.CurrentPath], _ = configread.FormsIn(configDir(m)) // reading the module has reported the error
		}
		return pairs[m.CurrentPath] == nil
	})
	if len(own) == 0 {
		return nil, nil
	}
	workspace, err := p.req.workspace()
	if err != nil {
		return nil, err
	}
	inputs := p.req.inputsIn(workspace)
	tofu, terraform := newFormReader(inputs, false), newFormReader(inputs, true)
	found := &DialectError{Dialect: p.Dialect}
	seen := make(map[string]bool)
	for _, m := range own {
		a, b := tofu.module(ctx, m), terraform.module(ctx, m)
		if a == nil || b == nil {
			continue // one of the tools does not call the module, which its caller's difference says
		}
		compared := comparedForms{module: m, forms: pairs[m.CurrentPath]}
		for _, d := range append(compared.calls(a, b), compared.requirements(a, b)...) {
			if place := fmt.Sprint(d.OpenTofuRange, d.TerraformRange, d.OpenTofu, d.Terraform); !seen[place] {
				seen[place] = true // each file is named once, however often its module is called
				found.Differences = append(found.Differences, d)
			}
		}
	}
	if len(found.Differences) == 0 {
		return nil, nil
	}
	return found, nil
}

// isSettled reports whether the user, the settings or the hosts in the lock say which tool the project is for,
// without contradiction.
func (p *openProject) isSettled(ctx context.Context) bool {
	signs := p.Detected.Signs
	if p.dialectGiven {
		signs = detect.Signs(ctx, p.detectable())
	}
	settled := p.dialectGiven
	for _, s := range signs {
		if s.InLock && s.Tool != p.Dialect {
			return false
		}
		settled = settled || s.InLock
	}
	return settled
}

// formReader reads modules with the files of one of the stock tools. Expressions are those of OpenTofu for
// both, so only the files make a difference.
type formReader struct {
	reader configread.Reader
	tree   *configread.Tree
	found  map[string]*config.Module // by the modules' keys
}

func newFormReader(inputs config.Inputs, terraform bool) *formReader {
	return &formReader{
		reader: configread.Reader{TerraformFiles: terraform, Providers: true}, tree: configread.NewTree(inputs),
		found: make(map[string]*config.Module),
	}
}

// module returns nil if the tool does not call the module.
func (f *formReader) module(ctx context.Context, m *module) *config.Module {
	if known, ok := f.found[m.Key()]; ok {
		return known
	}
	if m.Call != nil {
		caller := f.module(ctx, m.Call.Caller)
		if caller == nil || len(m.Call.Prefix) > 0 ||
			!slices.ContainsFunc(caller.Calls, func(c config.Call) bool { return c.Name == m.Call.Name }) {
			return nil
		}
	}
	dir := configDir(m)
	dir.Tree = f.tree
	read, _ := f.reader.Read(ctx, dir) // the run itself has reported the errors
	f.found[m.Key()] = &read
	return &read
}

type comparedForms struct {
	module *module
	forms  *configread.Forms
}

// calls returns the calls that the two forms have with different sources or versions, and those that only one
// of two files of the same name has.
func (c comparedForms) calls(tofu, terraform *config.Module) []DialectDifference {
	var list []DialectDifference
	for name, pair := range pairUp(tofu.Calls, terraform.Calls, func(c config.Call) string { return c.Name }) {
		d := DialectDifference{Module: c.module.Path(), Subject: "module " + c.module.Path().Child(name).String()}
		if call := pair[0]; call != nil {
			d.OpenTofu, d.OpenTofuRange = describeCall(*call), call.SourceRange
		}
		if call := pair[1]; call != nil {
			d.Terraform, d.TerraformRange = describeCall(*call), call.SourceRange
		}
		list = c.add(list, d)
	}
	return sortedDifferences(list)
}

func describeCall(call config.Call) string {
	text := fmt.Sprintf("%q", addrs.Redact(call.Source))
	if call.Version != nil {
		text += fmt.Sprintf(" version %q", *call.Version)
	}
	return text
}

// requirements is calls for required providers. Without files in two forms, what only tofu has are additions
// for tofu.
func (c comparedForms) requirements(tofu, terraform *config.Module) []DialectDifference {
	if len(c.forms.Names) == 0 {
		return nil
	}
	var list []DialectDifference
	merge := func(all []config.ProviderRequirement) []requiredForm {
		var merged []requiredForm
		for _, r := range all {
			i := slices.IndexFunc(merged, func(m requiredForm) bool { return m.provider == r.Provider })
			if i < 0 {
				merged, i = append(merged, requiredForm{provider: r.Provider, at: r.Range}), len(merged)
			}
			if r.Constraint != "" && !slices.Contains(merged[i].constraints, r.Constraint) {
				merged[i].constraints = append(merged[i].constraints, r.Constraint)
			}
		}
		return merged
	}
	for name, pair := range pairUp(merge(tofu.Providers), merge(terraform.Providers), func(r requiredForm) string { return r.provider.ForDisplay() }) {
		d := DialectDifference{Module: c.module.Path(), Subject: "provider " + name}
		if r := pair[0]; r != nil {
			d.OpenTofu, d.OpenTofuRange = r.String(), r.at
		}
		if r := pair[1]; r != nil {
			d.Terraform, d.TerraformRange = r.String(), r.at
		}
		list = c.add(list, d)
	}
	return sortedDifferences(list)
}

type requiredForm struct {
	provider    addrs.Provider
	constraints []string
	at          hcl.Range
}

func (r requiredForm) String() string {
	if len(r.constraints) == 0 {
		return "any version"
	}
	return fmt.Sprintf("%q", strings.Join(slices.Sorted(slices.Values(r.constraints)), ", "))
}

// add adds a difference, if it is one. What only one tool reads counts only in a file that has two forms.
func (c comparedForms) add(list []DialectDifference, d DialectDifference) []DialectDifference {
	onlyIn := d.OpenTofuRange.Filename + d.TerraformRange.Filename
	switch {
	case d.OpenTofu == d.Terraform:
		return list
	case (d.OpenTofu == "" || d.Terraform == "") && !slices.Contains(c.forms.Names, path.Base(onlyIn)):
		return list
	}
	return append(list, d)
}

func sortedDifferences(list []DialectDifference) []DialectDifference {
	slices.SortFunc(list, func(a, b DialectDifference) int { return cmp.Compare(a.Subject, b.Subject) })
	return list
}

// pairUp returns the elements of two lists by name, with nil for one that a list lacks.
func pairUp[T any](a, b []T, name func(T) string) map[string][2]*T {
	pairs := make(map[string][2]*T)
	for side, list := range [][]T{a, b} {
		for i := range list {
			pair := pairs[name(list[i])]
			pair[side] = &list[i]
			pairs[name(list[i])] = pair
		}
	}
	return pairs
}
