package main

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

func measure(ctx context.Context, w world, tools []tool, place workplace, runs int) (report.World, error) {
	result := report.World{Name: w.name, About: w.about, Notes: w.notes, Goals: w.goals}
	for _, part := range w.parts {
		rows, err := measurePart(ctx, w, part, tools, place, runs)
		if err != nil {
			return result, err
		}
		result.Rows = append(result.Rows, rows...)
	}
	return result, nil
}

// measurePart returns rows in the order of the phases.
func measurePart(ctx context.Context, w world, part part, tools []tool, place workplace, runs int) ([]report.Row, error) {
	servers, err := part.start()
	if err != nil {
		return nil, err
	}
	defer func() { _ = servers.Close() }()
	projects, err := newProjects(servers, w, part, tools, place)
	if err != nil {
		return nil, err
	}
	// Run once without a delay: servers create some things lazily, and phases with a cache need one.
	for _, p := range projects {
		last := part.phases[len(part.phases)-1]
		if last.prepared || last.once || !p.tool.ours && !last.keepCache {
			continue
		}
		if _, err := p.in(last).run(ctx); err != nil {
			return nil, err
		}
	}
	// The phases that write the least come first: the system finds a file slower after many were created.
	rows := make([][]report.Row, len(part.phases))
	for i, ph := range slices.Backward(part.phases) {
		if ph.prepared {
			if err := prepare(ctx, ph, projects); err != nil {
				return nil, err
			}
		}
		servers.Wait(delay)
		if rows[i], err = measurePhase(ctx, ph, projects, runs); err != nil {
			return nil, err
		}
		for _, measure := range ph.baselines {
			row, err := measure(ctx, projects[0].in(ph), runs)
			if err != nil {
				return nil, err
			}
			row.State, row.Kind = ph.name, report.Baseline
			rows[i] = append(rows[i], row)
		}
	}
	return slices.Concat(rows...), nil
}

// newProjects returns a project for each tool of the world, cotter's first.
func newProjects(servers servers, w world, part part, tools []tool, place workplace) ([]project, error) {
	var projects []project
	for _, t := range tools {
		if !w.knownTo(t) {
			continue
		}
		p, err := newProject(place, servers, t, part)
		if err != nil {
			return nil, err
		}
		projects = append(projects, p)
	}
	return projects, nil
}

// prepare runs all tools once, without a delay, to create what the phase keeps.
func prepare(ctx context.Context, ph phase, projects []project) error {
	for _, p := range projects {
		p.servers.Wait(0)
		first := ph.work
		if ph.first.ours != nil {
			first = ph.first
		}
		prepared := p.in(phase{work: first, pluginCache: ph.pluginCache, copied: ph.copied})
		if err := prepared.reset(); err != nil {
			return err
		}
		if _, err := prepared.run(ctx); err != nil {
			return err
		}
		if ph.mirrored && p.tool.ours {
			if _, err := p.in(phase{work: push, mirrored: true}).run(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// measurePhase lets the tools take turns, so that other load affects all.
func measurePhase(ctx context.Context, ph phase, projects []project, runs int) ([]report.Row, error) {
	series := make([][]usage, len(projects))
	rows := make([]report.Row, len(projects))
	if ph.once {
		runs = 1
	}
	for range runs {
		for j, p := range projects {
			p := p.in(ph)
			if err := p.reset(); err != nil {
				return nil, err
			}
			settle(ctx)
			u, err := p.measured(ctx)
			if err != nil {
				return nil, err
			}
			series[j] = append(series[j], u)
		}
	}
	for j, p := range projects {
		rows[j] = summary(series[j])
		rows[j].State, rows[j].Tool, rows[j].Kind = ph.name, p.in(ph).command(), report.Stock
		if p.tool.ours {
			rows[j].Kind = report.Ours
		}
		if err := p.in(ph).finish(&rows[j]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// settle writes data of earlier runs, which would slow down the next command, if there is a sync command.
func settle(ctx context.Context) { _ = exec.CommandContext(ctx, "sync").Run() }

type usage struct {
	elapsed, cpu time.Duration
	peak         int64 // peak memory in bytes
	received     int64 // bytes received from the servers
	requests     []modtest.Request
}

// summary has the median times, the highest peak, and requests and bytes of the last run.
func summary(runs []usage) report.Row {
	var times, cpus []time.Duration
	row := report.Row{Runs: len(runs)}
	for _, u := range runs {
		times, cpus = append(times, u.elapsed), append(cpus, u.cpu)
		row.Peak = max(row.Peak, u.peak)
	}
	slices.Sort(times)
	slices.Sort(cpus)
	row.Median, row.Lowest, row.Highest = times[len(times)/2], times[0], times[len(times)-1]
	row.CPU = cpus[len(cpus)/2]
	last := runs[len(runs)-1]
	row.Received, row.Requests = last.received, len(last.requests)
	made := map[string]int{}
	for _, r := range last.requests {
		made[r.String()]++
		row.Repeats = max(row.Repeats, made[r.String()])
		if strings.HasPrefix(r.Path, "/.well-known/") {
			row.Discovery++
		}
	}
	return row
}
