package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/textform"
)

func sbomCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "sbom [DIR...]",
		Short: "write a software bill of materials for what is installed",
		Long: "Writes a CycloneDX document in JSON. It has a component for each package and each\n" +
			"provider, with the package URL, the version, commit or digest, and the hashes in the\n" +
			"lock. It also says which components call or require which. The same modules and\n" +
			"providers always give the same bytes: the file contains no date and no random number.\n" +
			"\n" +
			"For several projects there is one document. Each project is a component of it, with the\n" +
			"components that it calls and requires. The document is written only if all projects\n" +
			"could be read.",
	}, runSBOM, configFlags(severalFlags(text("out", "write to `FILE` instead of standard output"))...))
}

func runSBOM(ctx context.Context, cmd *invocation, out *output) (err error) {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	name, err := titleOf(req)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	found := make(map[string]*installer.Result) // by the directories of projects
	err = forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req request) error {
		in, err := evidenceInstaller(ctx, cmd, out, req)
		if err != nil {
			return err
		}
		result, err := in.Load(ctx, req.Project, installer.LoadOptions{FromLock: true, Providers: true})
		mu.Lock()
		defer mu.Unlock()
		found[req.Dir] = result
		return err
	})
	if err != nil || len(found) == 0 {
		return err
	}
	b := newBill()
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		ref, prefix := rootRef, ""
		if severalProjects(cmd) {
			dir = filepath.ToSlash(dir)
			ref, prefix = b.project(dir), dir+": "
		}
		b.add(found[dir], ref, prefix)
	}
	return out.toFile(cmd.String("out"), func() error { return encodeBOM(out.stdout, b.document(name)) })
}

func encodeBOM(w io.Writer, bom *cyclonedx.BOM) error {
	var text strings.Builder
	encoder := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(bom); err != nil {
		return err
	}
	_, err := io.WriteString(w, view.EscapeJSON(text.String()))
	return err
}

// rootRef is the reference of the configuration itself. That of each of several projects is below it.
const rootRef = "configuration"

// bill collects components by their references, each once, and those that each one calls or requires.
type bill struct {
	components map[string]*cyclonedx.Component
	calls      map[string][]string
}

func newBill() *bill {
	return &bill{make(map[string]*cyclonedx.Component), map[string][]string{rootRef: nil}}
}

func (b *bill) project(dir string) string {
	ref := rootRef + ":" + dir
	b.call(rootRef, ref)
	b.components[ref] = &cyclonedx.Component{BOMRef: ref, Type: cyclonedx.ComponentTypeApplication, Name: dir}
	return ref
}

func (b *bill) call(by, ref string) {
	if !slices.Contains(b.calls[by], ref) {
		b.calls[by] = append(b.calls[by], ref)
	}
	b.use(ref)
}

// use adds a component that may call none.
func (b *bill) use(ref string) {
	if _, ok := b.calls[ref]; !ok {
		b.calls[ref] = nil
	}
}

// add adds the tree of a project. A module in its caller's package is part of that package's component, and
// the user's own local modules are part of the project. prefix begins the names of callers.
func (b *bill) add(result *installer.Result, project, prefix string) {
	owners := map[string]string{} // the components that modules belong to, by the modules' keys
	for _, m := range result.Modules {
		caller := project
		if above := m.Call.Caller(m.Path); len(above) > 0 {
			caller = cmp.Or(owners[above.String()], project)
		}
		owners[m.Path.String()] = caller
		if m.Package.IsZero() {
			continue
		}
		ref := packageRef(m)
		owners[m.Path.String()] = ref
		b.call(caller, ref)
		if b.components[ref] == nil {
			b.components[ref] = component(m, ref)
		}
		place := prefix + m.Path.String()
		if rng := m.Call.Range; rng.Filename != "" { // only the lock has the call
			file, _ := textform.Path(rng.Filename).MarshalText()
			place += fmt.Sprintf(" (%s:%d)", file, rng.Start.Line)
		}
		addProperty(b.components[ref], "cotter:call", place)
	}
	for _, p := range result.Providers {
		if p.Version.IsZero() {
			continue // the provider is not locked
		}
		c := providerComponent(p)
		if known := b.components[c.BOMRef]; known != nil {
			c = known
		}
		b.components[c.BOMRef] = c
		for _, h := range p.Hashes {
			addProperty(c, "cotter:"+h.Scheme(), string(h))
		}
		if p.Evidence.Kind == evidence.Project {
			addProperty(c, "cotter:evidence", p.Evidence.Kind.String())
		}
		for _, use := range p.RequiredBy {
			addProperty(c, "cotter:required-by", prefix+use.String())
			b.call(cmp.Or(owners[use.Path.String()], project), c.BOMRef)
		}
		b.use(c.BOMRef)
	}
}

func (b *bill) document(name string) *cyclonedx.BOM {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Component: &cyclonedx.Component{BOMRef: rootRef, Type: cyclonedx.ComponentTypeApplication, Name: name},
		Tools: &cyclonedx.ToolsChoice{Components: &[]cyclonedx.Component{
			{Type: cyclonedx.ComponentTypeApplication, Name: "cotter", Version: version()},
		}},
	}
	components := []cyclonedx.Component{}
	for _, ref := range slices.Sorted(maps.Keys(b.components)) {
		components = append(components, *b.components[ref])
	}
	dependencies := []cyclonedx.Dependency{}
	for _, ref := range slices.Sorted(maps.Keys(b.calls)) {
		called := b.calls[ref]
		slices.Sort(called)
		d := cyclonedx.Dependency{Ref: ref}
		if called != nil {
			d.Dependencies = &called
		}
		dependencies = append(dependencies, d)
	}
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom
}
