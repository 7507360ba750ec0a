package report

import (
	"fmt"
	"slices"
	"time"
)

// Goal is something that should be true of a world's rows.
type Goal struct {
	// Text says what should be true.
	Text string
	// Check reports whether it is, and what was measured. An empty measurement
	// says that there is nothing to compare with.
	Check func(rows []Row) (measured string, met bool)
}

// Faster is the goal that cotter takes at most a part of the time that each
// stock tool takes in that state.
func Faster(state string, factor float64) Goal {
	text := fmt.Sprintf("%s: at least %g times faster than stock", state, factor)
	if factor == 1 {
		text = state + ": faster than stock, which verifies nothing"
	}
	return Goal{text, func(rows []Row) (string, bool) {
		least, found := leastRatio(rows, state)
		if !found {
			return "", false
		}
		return times(least), least >= factor
	}}
}

// leastRatio is how many times faster cotter is than the fastest stock tool.
func leastRatio(rows []Row, state string) (least float64, found bool) {
	for _, stock := range rows {
		if ours, ok := oursIn(rows, state); ok && stock.Kind == Stock && stock.State == state {
			if ratio := quotient(stock.Median, ours.Median); !found || ratio < least {
				least, found = ratio, true
			}
		}
	}
	return least, found
}

func quotient(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func times(ratio float64) string { return factor(ratio) + " times" }

func oursIn(rows []Row, state string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Kind == Ours && r.State == state })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// ours is a goal about cotter's own row in a state.
func ours(state, text string, check func(Row) (string, bool)) Goal {
	return Goal{state + ": " + text, func(rows []Row) (string, bool) {
		r, found := oursIn(rows, state)
		if !found {
			return "", false
		}
		return check(r)
	}}
}

// NoRequest is the goal that nothing is asked of any server.
func NoRequest(state string) Goal {
	return ours(state, "no request at all", func(r Row) (string, bool) {
		return fmt.Sprintf("%d requests", r.Requests), r.Requests == 0
	})
}

// RequestsPerPackage is the goal that each package costs at most that many
// requests, service discovery not counted.
func RequestsPerPackage(state string, packages, most int) Goal {
	return ours(state, fmt.Sprintf("no more than %d requests a package beyond discovery", most), func(r Row) (string, bool) {
		n := r.Requests - r.Discovery
		return fmt.Sprintf("%d requests for %d packages", n, packages), n <= most*packages
	})
}

// FetchedOnce is the goal that no request is made twice.
func FetchedOnce(state string) Goal {
	return ours(state, "each package fetched once", func(r Row) (string, bool) {
		return fmt.Sprintf("no request was made more often than %d times", r.Repeats), r.Repeats <= 1
	})
}

// DiskShare is the goal that project and cache together take at most a share of
// what the project of each stock tool takes.
func DiskShare(state string, percent float64) Goal {
	return Goal{fmt.Sprintf("%s: at most %g %% of stock's disk, the cache included", state, percent), func(rows []Row) (string, bool) {
		r, found := oursIn(rows, state)
		most := 0.0
		stock := 0
		for _, other := range rows {
			if found && other.Kind == Stock && other.State == state {
				stock++
				most = max(most, 100*float64(r.Disk+r.Cache)/float64(max(other.Disk, 1)))
			}
		}
		if stock == 0 {
			return "", false
		}
		return fmt.Sprintf("%.1f %%", most), most <= percent
	}}
}

// NearBaseline is the goal that cotter takes less than a multiple of the time of
// the state's baseline.
func NearBaseline(state string, factor float64) Goal {
	return Goal{fmt.Sprintf("%s: under %g times the time of reading and hashing the files", state, factor), func(rows []Row) (string, bool) {
		r, found := oursIn(rows, state)
		i := slices.IndexFunc(rows, func(other Row) bool { return other.Kind == Baseline && other.State == state })
		if !found || i < 0 {
			return "", false
		}
		ratio := quotient(r.Median, rows[i].Median)
		return times(ratio), ratio < factor
	}}
}

// MemoryBelow is the goal that cotter's memory stays below a number of MiB.
func MemoryBelow(state string, mib int64) Goal {
	return ours(state, fmt.Sprintf("memory under %d MiB", mib), func(r Row) (string, bool) {
		if r.Peak == 0 {
			return "", false
		}
		return fmt.Sprintf("%d MiB", r.Peak>>20), r.Peak < mib<<20
	})
}

// Linear is the goal that ten times as much takes at most ten times as long.
func Linear(small, large string) Goal {
	return Goal{fmt.Sprintf("%s: at most ten times as long as %s", large, small), func(rows []Row) (string, bool) {
		few, found := oursIn(rows, small)
		many, foundToo := oursIn(rows, large)
		if !found || !foundToo {
			return "", false
		}
		ratio := quotient(many.Median, few.Median)
		return times(ratio), ratio <= 10
	}}
}

// Spared is the goal that at least that many bytes of what the state's baseline
// transfers are not transferred.
func Spared(state string, bytes int64) Goal {
	return Goal{fmt.Sprintf("%s: at least %s of the list of all refs not transferred", state, megabytes(bytes)), func(rows []Row) (string, bool) {
		r, found := oursIn(rows, state)
		i := slices.IndexFunc(rows, func(other Row) bool { return other.Kind == Baseline && other.State == state })
		if !found || i < 0 {
			return "", false
		}
		spared := rows[i].Received - r.Received
		return fmt.Sprintf("%s of %s", megabytes(spared), megabytes(rows[i].Received)), spared >= bytes
	}}
}

// The verdicts on a goal.
const (
	met         = "met"
	missed      = "missed"
	notCompared = "not compared"
)

func (g Goal) verdict(rows []Row) (word, measured string) {
	measured, good := g.Check(rows)
	switch {
	case measured == "":
		return notCompared, "nothing to compare with in this run"
	case good:
		return met, measured
	}
	return missed, measured
}

// line is a goal with its verdict.
func (g Goal) line(rows []Row) string {
	word, measured := g.verdict(rows)
	return fmt.Sprintf("- %s: **%s** (%s)\n", g.Text, word, measured)
}
