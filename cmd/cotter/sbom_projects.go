package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// projectsBOM describes several projects in one document. Each project is a component;
// components that several projects use are in the document once. It returns nil if there are
// no projects.
func projectsBOM(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) (*cyclonedx.BOM, error) {
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
		if req, err = applySettings(cmd, req); err != nil {
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
