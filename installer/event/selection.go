package event

// Selection says why a run uses a version or a revision of a module. What is in use stays in use,
// so the first reason that applies decides.
type Selection string

// The reasons. The first four are in the order in which they apply.
const (
	// SelectionUnknown means that nothing was selected.
	SelectionUnknown Selection = ""
	// SelectionLocked means that the lock has an entry for the call.
	SelectionLocked Selection = "locked"
	// SelectionSameSource means that the lock has an entry for another call of the same source, or had one before
	// the run, as after a call was renamed. It may be that of the same call, from before its source was replaced, or
	// a block whose label is the source address, as in the later draft of OpenTofu's proposal.
	SelectionSameSource Selection = "same source"
	// SelectionInstalled means that a stock tool has installed it for the call.
	SelectionInstalled Selection = "installed"
	// SelectionNewest means that it is the newest that the call's constraint allows.
	SelectionNewest Selection = "newest"
	// SelectionUnified means that all calls of the source share it.
	SelectionUnified Selection = "unified"
	// SelectionRequested means that the request names it.
	SelectionRequested Selection = "requested"
)

// String returns the reason in a few words, and "unknown" for [SelectionUnknown].
func (s Selection) String() string {
	if s == SelectionUnknown {
		return "unknown"
	}
	return string(s)
}

// IsInUse reports whether the project used the version or revision before the lock had an entry
// for the call.
func (s Selection) IsInUse() bool { return s == SelectionSameSource || s == SelectionInstalled }
