package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
)

// inNew returns the request for the project in NEW, if that is a directory.
func inNew(cmd *invocation, out *output, req request) (request, error) {
	name := cmd.Arg(1)
	if severalProjects(cmd) || !view.IsDir(name) {
		return req, nil
	}
	req.Dir = name
	return applySettings(cmd, out.Env, req)
}

// interfaceDiffs are by the keys of the calls.
type interfaceDiffs map[string]config.InterfaceDiff

// diffInterfaces compares the packages of two locks for the calls in NEW if it is a directory, and
// otherwise in the project.
func diffInterfaces(ctx context.Context, cmd *invocation, in *installer.Installer, out *output, req request, old, updated *lockfile.File) (interfaceDiffs, error) {
	req, err := inNew(cmd, out, req)
	if err != nil {
		return nil, err
	}
	if out.interactive() && !out.quiet {
		progress := newProgress(out)
		defer progress.end()
		req.OnEvent = progress.event
	}
	list, err := installerinternal.DiffInterfaces(ctx, in, req.Project, cmd.Bool("offline"), old, updated)
	if err != nil {
		return nil, err
	}
	found := make(interfaceDiffs)
	for _, d := range list {
		found[d.Path.String()] = d
	}
	return found, nil
}

func (d interfaceDiffs) addTo(changes []records.EntryChange) {
	for i, c := range changes {
		found, ok := d[c.Key]
		switch {
		case !ok || c.Key == "":
		case found.Err != nil:
			changes[i].InterfaceError = advice.MessageOf(found.Err).Text
		default:
			changes[i].Compared, changes[i].Interface, changes[i].Interfaces = true, records.InterfaceChanges(found.Changes), found.Changes
		}
	}
}

// report warns about the modules that could not be compared, by cause. Its error is about packages that do
// not match their lock.
func (d interfaceDiffs) report(out *output) error {
	type failure struct {
		key   string
		cause advice.Message
	}
	var failures []failure
	var mismatches []error
	for _, key := range slices.Sorted(maps.Keys(d)) {
		err := d[key].Err
		if mismatch, ok := errors.AsType[*installer.HashMismatchError](err); ok {
			// This does not wrap the error, whose remedies change the project's lock: it is not known which of
			// the two compared locks is wrong.
			mismatches = append(mismatches, fmt.Errorf("module %s was not compared: %s has %s, but the lock has %s", key, mismatch.Package, hashList(mismatch.Got), hashList(mismatch.Want)))
		} else if err != nil && !out.json {
			failures = append(failures, failure{key, out.Explain(advice.Messages(err))[0]})
		}
	}
	for _, same := range lists.GroupBy(failures, func(f failure) string { return f.cause.Text }) {
		keys := lists.Map(same, func(f failure) string { return f.key })
		out.warnf("cannot tell what changes for the callers of %s: %s", strings.Join(keys, ", "), same[0].cause.Text)
		out.printRemedies(same[0].cause.Remedies)
	}
	return errors.Join(mismatches...)
}

func hashList(hashes []hashing.Hash) string {
	return strings.Join(lists.Map(hashes, func(h hashing.Hash) string { return string(h) }), ", ")
}

func interfaceLines(changes []config.InterfaceChange) []string {
	var lines []string
	for _, c := range changes {
		line := c.String()
		if c.Breaking {
			line = "BREAKING: " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func breaking(changes []config.InterfaceChange) []config.InterfaceChange {
	return slices.DeleteFunc(slices.Clone(changes), func(c config.InterfaceChange) bool { return !c.Breaking })
}

const maxInterfaceLines = 40

func shortList(lines []string) []string {
	if len(lines) <= maxInterfaceLines {
		return lines
	}
	return append(lines[:maxInterfaceLines:maxInterfaceLines], fmt.Sprintf("... and %d more; --json lists all", len(lines)-maxInterfaceLines))
}
