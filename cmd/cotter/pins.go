package main

import (
	"context"
	"slices"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// proposals prints the tags in source addresses for which there are newer tags.
func (o *output) proposals(pins []cotter.Pin) {
	first := true
	for _, pin := range pins {
		if !pin.Outdated() {
			continue
		}
		if first && o.project == "" {
			o.printf("\n")
		}
		first = false
		o.printf("%s (%s:%d): %s is %s, and the newest is %s; `cotter update %s --edit` writes it into the file\n",
			pin.Path, pin.Call.SourceRange.Filename, pin.Call.SourceRange.Start.Line, pin.Argument, pin.Tag, pin.LatestTag, shellWord(pin.Path.String()))
	}
}

// updatedPins returns the outdated pins of the calls that a request updates.
func updatedPins(ctx context.Context, in *cotter.Installer, req cotter.Request) ([]cotter.Pin, error) {
	pins, err := in.Pins(ctx, req)
	return slices.DeleteFunc(pins, func(p cotter.Pin) bool {
		return !p.Outdated() || !req.Update.All && !slices.Contains(req.Update.Keys, p.Path.String())
	}), err
}

// editPins writes the newest tags into the configuration of the projects. It edits one
// project after another, because they can share modules.
func editPins(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	dirs := []string{req.Dir}
	if severalProjects(cmd) {
		var err error
		if dirs, err = projectDirs(ctx, cmd, out, req); err != nil {
			return err
		}
	}
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	in, done, err := in.Share()
	if err != nil {
		return err
	}
	defer done()
	in.OnEvent = out.warning
	for _, dir := range dirs {
		req.Dir = dir
		if req, err = applySettings(cmd, req); err != nil {
			return err
		}
		pins, err := updatedPins(ctx, in, req)
		if err != nil {
			return err
		}
		if !req.DryRun {
			if err := cotter.EditPins(req, pins); err != nil {
				return err
			}
			out.whenInterrupted = "Interrupted; the configuration was edited, but nothing else was changed."
		}
		if err := out.edited(pins, dir, req.DryRun); err != nil {
			return err
		}
	}
	return nil
}

// edited prints the tags that were written into source addresses, or that would be written
// without --dry-run.
func (o *output) edited(pins []cotter.Pin, dir string, dryRun bool) error {
	for _, pin := range pins {
		at := pin.Call.SourceRange
		if o.json {
			err := o.writeProjectJSON(dir, editedRecord{pin.Path.String(), at.Filename, at.Start.Line, pin.Tag, pin.LatestTag, dryRun})
			if err != nil {
				return err
			}
			continue
		}
		what := "edited"
		if dryRun {
			what = "would be edited"
		}
		o.printf("- %s (%s:%d) %s: %s %s -> %s\n", pin.Path, at.Filename, at.Start.Line, what, pin.Argument, pin.Tag, pin.LatestTag)
	}
	return nil
}

// proposePins prints the outdated tags that an update did not change. The update was
// successful, so errors of origins are only warnings here.
func proposePins(ctx context.Context, cmd *cli.Invocation, out *output) error {
	return withOrigins(ctx, cmd, out, func(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request) error {
		setUpdates(cmd, &req)
		if err := setPolicy(cmd, &req); err != nil {
			return err
		}
		pins, err := updatedPins(ctx, in, req)
		if err != nil {
			for _, m := range messages(err) {
				out.warnf("%s", m.line())
			}
		}
		out.proposals(pins)
		return nil
	})
}
