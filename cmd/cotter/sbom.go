package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/installer"
)

func sbomCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "sbom [DIR...]",
		Short: "write a software bill of materials for the installed modules and providers",
		Long: "Writes a CycloneDX document in JSON. It has a component for each package and each\n" +
			"provider, with the package URL, the version, commit or digest, and the hashes in the\n" +
			"lock. It also says which components call or require which. The same modules and\n" +
			"providers always give the same bytes: the file contains no date and no random number.\n" +
			"\n" +
			"For several projects there is one document. Each project is a component of it, with the\n" +
			"components that it calls and requires. The document is written only if all projects\n" +
			"could be read.",
	}, func(ctx context.Context, cmd *invocation) error {
		return runSBOM(ctx, cmd, out)
	}, configFlags(severalFlags(text("out", "write to `FILE` instead of standard output"))...))
}

func runSBOM(ctx context.Context, cmd *invocation, out *output) (err error) {
	req, err := newRequest(cmd, out.env)
	if err != nil {
		return err
	}
	read := projectBOM
	if severalProjects(cmd) {
		read = projectsBOM
	}
	bom, err := read(ctx, cmd, out, req)
	if err != nil || bom == nil {
		return err
	}
	if cmd.String("out") == "" {
		return encodeBOM(out.stdout, bom)
	}
	file, err := os.Create(cmd.String("out"))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	return encodeBOM(file, bom)
}

// projectBOM describes the project of a request.
func projectBOM(ctx context.Context, cmd *invocation, out *output, req request) (*cyclonedx.BOM, error) {
	dir, err := filepath.Abs(cmp.Or(req.Dir, "."))
	if err != nil {
		return nil, err
	}
	in, err := evidenceInstaller(ctx, cmd, out, req)
	if err != nil {
		return nil, err
	}
	result, err := in.Load(ctx, req.Project, installer.LoadOptions{FromLock: true, Providers: true})
	if err != nil {
		return nil, err
	}
	return billOfMaterials(result, result.Providers, filepath.Base(dir)), nil
}

func encodeBOM(w io.Writer, bom *cyclonedx.BOM) error {
	var text strings.Builder
	encoder := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(bom); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapeJSON(text.String()))
	return err
}

// rootRef is the reference of the configuration itself in the graph of dependencies.
const rootRef = "configuration"

// billOfMaterials describes an installed tree. A module in its caller's package is part of
// that package's component. The user's own local modules are part of the configuration.
func billOfMaterials(result *installer.Result, providers []installer.Provider, name string) *cyclonedx.BOM {
	components := map[string]*cyclonedx.Component{}
	calls := map[string][]string{rootRef: nil}
	owners := map[string]string{} // the components that modules belong to, by the modules' keys
	for _, m := range result.Modules {
		caller := rootRef
		if above := m.Path[:len(m.Path)-1]; len(above) > 0 {
			caller = cmp.Or(owners[above.String()], rootRef)
		}
		owners[m.Path.String()] = caller
		if m.Package.IsZero() {
			continue
		}
		ref := packageRef(m)
		owners[m.Path.String()] = ref
		if !slices.Contains(calls[caller], ref) {
			calls[caller] = append(calls[caller], ref)
		}
		if components[ref] == nil {
			components[ref] = component(m, ref)
			calls[ref] = append([]string(nil), calls[ref]...) // components without calls are in the graph too
		}
		place := m.Path.String()
		if rng := m.Call.Range; rng.Filename != "" { // only the lock has the call
			place += fmt.Sprintf(" (%s:%d)", rng.Filename, rng.Start.Line)
		}
		addProperty(components[ref], "cotter:call", place)
	}
	addProviders(providers, owners, components, calls)
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Component: &cyclonedx.Component{BOMRef: rootRef, Type: cyclonedx.ComponentTypeApplication, Name: name},
		Tools: &cyclonedx.ToolsChoice{Components: &[]cyclonedx.Component{
			{Type: cyclonedx.ComponentTypeApplication, Name: "cotter", Version: version()},
		}},
	}
	bom.Components, bom.Dependencies = sortedComponents(components), sortedDependencies(calls)
	return bom
}

func sortedComponents(components map[string]*cyclonedx.Component) *[]cyclonedx.Component {
	list := []cyclonedx.Component{}
	for _, c := range components {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	return &list
}

func sortedDependencies(calls map[string][]string) *[]cyclonedx.Dependency {
	list := []cyclonedx.Dependency{}
	for ref, called := range calls {
		slices.Sort(called)
		d := cyclonedx.Dependency{Ref: ref}
		if called != nil {
			d.Dependencies = &called
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b cyclonedx.Dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	return &list
}

// projectsBOM describes several projects in one document. Each project is a component;
// components that several projects use are in the document once. It returns nil if there are
// no projects.
func projectsBOM(ctx context.Context, cmd *invocation, out *output, req request) (*cyclonedx.BOM, error) {
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil || len(dirs) == 0 {
		return nil, err
	}
	boms := make([]*cyclonedx.BOM, len(dirs))
	index := make(map[string]int)
	for i, dir := range dirs {
		index[dir] = i
	}
	err = out.inProjects(ctx, dirs, func(ctx context.Context, out *output, dir string) (err error) {
		req := req
		req.Dir = dir
		if req, err = applySettings(cmd, out.env, req); err != nil {
			return err
		}
		boms[index[dir]], err = projectBOM(ctx, cmd, out, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	top, err := filepath.Abs(cmp.Or(req.Dir, "."))
	if err != nil {
		return nil, err
	}
	return mergeBOMs(filepath.Base(top), dirs, boms), nil
}

// mergeBOMs merges the documents of projects.
func mergeBOMs(name string, dirs []string, boms []*cyclonedx.BOM) *cyclonedx.BOM {
	components := map[string]*cyclonedx.Component{}
	calls := map[string][]string{rootRef: nil}
	for i, bom := range boms {
		dir := filepath.ToSlash(dirs[i])
		project := rootRef + ":" + dir
		calls[rootRef] = append(calls[rootRef], project)
		components[project] = &cyclonedx.Component{BOMRef: project, Type: cyclonedx.ComponentTypeApplication, Name: dir}
		for _, c := range *bom.Components {
			addUses(&c, dir)
			if known := components[c.BOMRef]; known != nil {
				addMissing(known, &c)
				continue
			}
			components[c.BOMRef] = &c
		}
		for _, d := range *bom.Dependencies {
			ref := d.Ref
			if ref == rootRef {
				ref = project
			}
			calls[ref] = append(calls[ref], nil...)
			if d.Dependencies != nil {
				calls[ref] = append(calls[ref], *d.Dependencies...)
			}
		}
	}
	for ref, called := range calls {
		slices.Sort(called)
		calls[ref] = slices.Compact(called)
	}
	merged := cyclonedx.NewBOM()
	merged.Metadata = boms[0].Metadata
	merged.Metadata.Component.Name = name
	merged.Components, merged.Dependencies = sortedComponents(components), sortedDependencies(calls)
	return merged
}

// addUses adds the directory of the project to the uses of a component.
func addUses(c *cyclonedx.Component, dir string) {
	for i, p := range *c.Properties {
		if p.Name == "cotter:call" || p.Name == "cotter:required-by" {
			(*c.Properties)[i].Value = dir + ": " + p.Value
		}
	}
}

// addMissing adds the properties of another description of the same component that c does
// not have.
func addMissing(c, other *cyclonedx.Component) {
	for _, p := range *other.Properties {
		if !slices.Contains(*c.Properties, p) {
			*c.Properties = append(*c.Properties, p)
		}
	}
}
