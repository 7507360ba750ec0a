package report

import "time"

// Document is everything that the text is made of.
type Document struct {
	Machine Machine
	Date    time.Time
	// Delay is how long the servers waited before each answer.
	Delay time.Duration
	// Tools are the commands that ran, the first one ours. Absent are the names
	// of those stock binaries that were looked for and not found.
	Tools  []Tool
	Absent []string
	Worlds []World
	// Left are the names of the worlds that were not measured.
	Left []string
	// Arguments are those of the command that measured.
	Arguments string
}

// Machine is where it was measured. It has nothing that names the machine.
type Machine struct {
	CPU    string // the model
	Cores  int
	Memory int64  // bytes
	System string // "linux/amd64, Debian GNU/Linux 12, kernel 6.1"
	Go     string
	Git    string
	// LoadBefore and LoadAfter are the load averages of one minute when the
	// measurement began and ended; negative where the system tells none.
	LoadBefore, LoadAfter float64
}

// Tool is a command and its version.
type Tool struct{ Name, Version string }

// World is what was measured with one configuration and its servers.
type World struct {
	Name  string
	About string // a sentence without its full stop
	// Notes are further sentences about the rows, such as what a tool leaves out.
	Notes []string
	Rows  []Row
	Goals []Goal
	// Others is how many processors the machine's other work took on average
	// meanwhile; negative where that is not known.
	Others float64
}

// Row is what one tool needed in one state.
type Row struct {
	State string
	Tool  string
	// Kind says whose row it is.
	Kind Kind
	// Runs is how often it ran; the times are the median and the extremes.
	Runs                    int
	Median, Lowest, Highest time.Duration
	// CPU is the median of the processor time of the command and of all that it
	// starts.
	CPU time.Duration
	// Requests reached the servers, Discovery of them service discovery.
	// Repeats is how often the most frequent one was made.
	Requests, Discovery, Repeats int
	// Received is how many bytes the servers sent.
	Received int64
	// Disk is how many bytes the files of the projects' .terraform take
	// afterwards, Cache those of what is kept elsewhere.
	Disk, Cache int64
	// Peak is the peak memory of the process in bytes, 0 where it is not known.
	Peak int64
	// Sample of Whole parts of the world were run, and times, requests, bytes
	// and disk are multiplied. 0 of 0 means that all of it ran.
	Sample, Whole int
}

// Kind says whose a row is.
type Kind int

// A row of cotter, of a stock tool, or of no tool but of what the work costs at
// the least.
const (
	Ours Kind = iota
	Stock
	Baseline
)
