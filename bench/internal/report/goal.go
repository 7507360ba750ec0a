package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Goal is a limit for a value that is measured in a world.
type Goal struct {
	Text string // what should be true

	limit   float64
	atLeast bool // the limit is the smallest allowed value, not the largest
	unit    string
	// measure returns a value for each row that cotter is compared with, of which the worst counts.
	measure func(rows []Row) []float64
}

// Check returns the measured value, or "" if there is nothing to compare with.
func (g Goal) Check(rows []Row) (measured string, met bool) {
	values := g.measure(rows)
	if len(values) == 0 {
		return "", false
	}
	worst := slices.Max(values)
	met = worst <= g.limit
	if g.atLeast {
		worst = slices.Min(values)
		met = worst >= g.limit
	}
	return strconv.FormatFloat(math.Round(worst*100)/100, 'f', -1, 64) + " " + g.unit, met
}

func (g Goal) verdict(rows []Row) string {
	measured, met := g.Check(rows)
	switch {
	case measured == "":
		return "**not compared** (nothing to compare with in this run)"
	case met:
		return "**met** (" + measured + ")"
	}
	return "**missed** (" + measured + ")"
}

// against compares cotter's row with each of a kind in the same state; for Baseline with the first, and for
// Ours with none.
func against(state string, kind Kind, value func(ours, other Row) float64) func([]Row) []float64 {
	return func(rows []Row) (values []float64) {
		own, found := oursIn(rows, state)
		for _, r := range rows {
			if found && r.Kind == kind && r.State == state && (kind != Baseline || len(values) == 0) {
				values = append(values, value(own, r))
			}
		}
		return values
	}
}

func ours(state string, value func(Row) float64) func([]Row) []float64 {
	return against(state, Ours, func(own, _ Row) float64 { return value(own) })
}

func oursIn(rows []Row, state string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Kind == Ours && r.State == state })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

func ratio(a, b Row) float64 { return float64(a.Median) / float64(max(b.Median, 1)) }

// Faster requires at least factor times the speed of each stock tool.
func Faster(state string, factor float64) Goal {
	text := fmt.Sprintf("%s: at least %g times faster than stock", state, factor)
	if factor == 1 {
		text = state + ": faster than stock, which verifies nothing"
	}
	return Goal{text, factor, true, "times", against(state, Stock, func(ours, stock Row) float64 { return ratio(stock, ours) })}
}

// FasterThan requires at least factor times the speed of one stock tool.
func FasterThan(state, tool string, factor float64) Goal {
	faster := Faster(state, factor)
	faster.Text = fmt.Sprintf("%s: at least %g times faster than %s", state, factor, tool)
	all := faster.measure
	faster.measure = func(rows []Row) []float64 {
		return all(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
			return r.Kind == Stock && r.Tool != tool && !strings.HasPrefix(r.Tool, tool+" ")
		}))
	}
	return faster
}

// NoLongerThan requires at most factor times the time of another state.
func NoLongerThan(state, other string, factor float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g times as long as %s", state, factor, other), factor, false, "times", ratioOf(other, state)}
}

// FasterThanState requires at least factor times the speed of another state.
func FasterThanState(state, other string, factor float64) Goal {
	return Goal{fmt.Sprintf("%s: at least %g times faster than %s", state, factor, other), factor, true, "times", ratioOf(state, other)}
}

// ratioOf measures the second state's time as a multiple of the first's.
func ratioOf(first, second string) func([]Row) []float64 {
	return func(rows []Row) []float64 {
		a, found := oursIn(rows, first)
		b, foundToo := oursIn(rows, second)
		if !found || !foundToo {
			return nil
		}
		return []float64{ratio(b, a)}
	}
}

func ReceivedBelow(state string, mb float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g MB received", state, mb), mb, false, "MB", ours(state, func(r Row) float64 { return float64(r.Received) / 1e6 })}
}

func DiskBelow(state string, mb float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g MB of disk in the project", state, mb), mb, false, "MB", ours(state, func(r Row) float64 { return float64(r.Disk) / 1e6 })}
}

func NoRequest(state string) Goal {
	return Goal{state + ": no request at all", 0, false, "requests", ours(state, func(r Row) float64 { return float64(r.Requests) })}
}

// RequestsPerPackage is on average, without service discovery.
func RequestsPerPackage(state string, packages, most int) Goal {
	text := fmt.Sprintf("%s: no more than %d requests for each of %d packages beyond discovery", state, most, packages)
	return Goal{text, float64(most * packages), false, "requests", ours(state, func(r Row) float64 { return float64(r.Requests - r.Discovery) })}
}

func FetchedOnce(state string) Goal {
	return Goal{state + ": no request more than once", 1, false, "times", ours(state, func(r Row) float64 { return float64(r.Repeats) })}
}

// DiskShare compares cotter's project and cache with the project of each stock tool.
func DiskShare(state string, percent float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g %% of stock's disk, the cache included", state, percent), percent, false, "%",
		against(state, Stock, func(ours, stock Row) float64 {
			return 100 * float64(ours.Disk+ours.Cache) / float64(max(stock.Disk, 1))
		})}
}

// NearBaseline requires at most factor times the time of the first baseline, which does the work.
func NearBaseline(state, work string, factor float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g times the time of %s", state, factor, work), factor, false, "times", against(state, Baseline, ratio)}
}

func MemoryBelow(state string, mib float64) Goal {
	peak := ours(state, func(r Row) float64 { return float64(r.Peak >> 20) })
	return Goal{fmt.Sprintf("%s: at most %g MiB of memory", state, mib), mib, false, "MiB", func(rows []Row) []float64 {
		return slices.DeleteFunc(peak(rows), func(mib float64) bool { return mib == 0 }) // not known
	}}
}

// Linear requires at most ten times the time for ten times as much work.
func Linear(small, large string) Goal {
	return Goal{fmt.Sprintf("%s: at most ten times as long as %s", large, small), 10, false, "times", ratioOf(small, large)}
}

// Spared requires at least so many bytes less than the baseline receives.
func Spared(state string, bytes int64) Goal {
	return Goal{fmt.Sprintf("%s: at least %s of the list of all refs not transferred", state, megabytes(bytes)), float64(bytes) / 1e6, true, "MB",
		against(state, Baseline, func(ours, all Row) float64 { return float64(all.Received-ours.Received) / 1e6 })}
}
