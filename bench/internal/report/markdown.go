package report

import (
	"fmt"
	"strings"
	"time"
)

// Markdown is the whole document.
func Markdown(d Document) string {
	var b strings.Builder
	b.WriteString("# Performance\n\n")
	b.WriteString(d.introduction())
	b.WriteString(d.setting())
	b.WriteString("\n" + d.summary())
	for _, w := range d.Worlds {
		b.WriteString("\n" + Section(w))
	}
	if len(d.Left) > 0 {
		fmt.Fprintf(&b, "\nNot measured in this run: %s.\n", strings.Join(d.Left, ", "))
	}
	return b.String()
}

// introduction is how to read and repeat it.
func (d Document) introduction() string {
	return fmt.Sprintf(`This compares whole commands, each on a project and in a cache of its own, measured on %s. The tools take turns,
so that what else the machine does strikes all of them; each run begins when the disk has written what was left to write.
What earlier runs made is moved aside and removed at the end: a file system is slow to make files where many were removed.
The servers (a module registry, git over https, archives, OCI) are on the same machine and wait %s before each answer.
A time is the median of the runs, with the shortest and the longest behind it, and the ratio is a tool's time to that of
cotter. CPU is the time of the processors for the command and the git that it starts, memory the peak of the command
alone. Received is what the servers sent, disk what `+"`.terraform`"+` takes afterwards, cache what cotter keeps elsewhere
(stock tools keep nothing). "Fresh checkout" is a project with its lock and without `+"`.terraform`"+`, where stock tools, which lock
no modules, fetch everything again; "again" is a second run, in which cotter verifies every hash and stock tools verify
nothing. Differences of a tenth mean nothing on a machine that does other work. To repeat it, put the stock binaries on
the PATH and run this in the top directory (-worlds a,b measures some of the worlds; without -write nothing is written):

	go run ./bench %s

The parts by themselves, without a stock tool, are measured by `+"`go test -run - -bench . ./...`"+`: hashing, extraction,
selection of versions, lists of refs, locks, reading of configuration, installations.

`, d.Date.Format(time.DateOnly), d.Delay, d.Arguments)
}

// summary counts the verdicts and names the goals that were missed.
func (d Document) summary() string {
	count := map[string]int{}
	list := ""
	for _, w := range d.Worlds {
		for _, g := range w.Goals {
			word, measured := g.verdict(w.Rows)
			count[word]++
			if word == missed {
				list += fmt.Sprintf("- %s, %s: %s\n", w.Name, g.Text, measured)
			}
		}
	}
	text := fmt.Sprintf("Goals: %d %s, %d %s, %d %s.", count[met], met, count[missed], missed, count[notCompared], notCompared)
	if list == "" {
		return text + "\n"
	}
	return text + " Missed:\n\n" + list
}

// setting is the machine and the tools.
func (d Document) setting() string {
	var b strings.Builder
	m := d.Machine
	b.WriteString("| | |\n|---|---|\n")
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, cell(value))
		}
	}
	line("processor", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores))
	if m.Memory > 0 {
		line("memory", fmt.Sprintf("%.1f GiB", float64(m.Memory)/(1<<30)))
	}
	line("system", m.System)
	if m.LoadBefore >= 0 {
		line("load average", fmt.Sprintf("%.1f before, %.1f at the end, this measurement included", m.LoadBefore, m.LoadAfter))
	}
	line("Go", m.Go)
	line("git", m.Git)
	for _, t := range d.Tools {
		line(t.Name, t.Version)
	}
	for _, name := range d.Absent {
		line(name, "not found, so not measured")
	}
	return b.String()
}

// Section is one world: its table and its goals.
func Section(w World) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s.\n", w.Name, w.About)
	for _, note := range w.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	if w.Others >= 0 {
		fmt.Fprintf(&b, "Other work on the machine took %.2f processors meanwhile.\n", w.Others)
	}
	b.WriteString("\n| state | tool | time | ratio | CPU | requests | received | disk | cache | memory |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range w.Rows {
		b.WriteString(r.line(w.Rows))
	}
	if len(w.Goals) > 0 {
		b.WriteString("\n")
	}
	for _, g := range w.Goals {
		word, measured := g.verdict(w.Rows)
		fmt.Fprintf(&b, "- %s: **%s** (%s)\n", g.Text, word, measured)
	}
	return b.String()
}
