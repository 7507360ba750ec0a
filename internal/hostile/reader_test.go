package hostile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"unicode"
)

// maxMessage is the maximum size of the messages about an input in bytes.
const maxMessage = 8 << 10

type reader struct {
	report
	base    string
	classes map[string]Class
	good    []byte // an archive that is accepted
	// found are problems of the current input in addition to its verdict.
	found []string
}

func readAll(base string) report {
	r := &reader{base: base, classes: map[string]Class{}}
	r.Inputs = map[string]int{}
	for _, class := range Table() {
		r.classes[class.Name] = class
	}
	outside := filepath.Join(base, "sentinel")
	r.good = goodZip(Archives(outside))
	feed(r, Archives(outside), r.archive)
	feed(r, Addresses(), r.address)
	feed(r, Refs(), r.ref)
	for _, way := range r.ways() {
		feed(r, Locations(), way)
	}
	feed(r, Listings(), r.listing)
	feed(r, Documents(), r.document)
	feed(r, Manifests(), r.manifest)
	r.oci()
	feed(r, Configurations(), r.configuration)
	feed(r, Locks(), r.lock)
	r.trees(outside)
	for name := range r.classes {
		if r.Inputs[name] == 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("class %s has no inputs", name))
		}
	}
	r.Peak = peak()
	return r.report
}

// feed reads all inputs of one kind. read returns an error for a refusal, and otherwise reports
// whether there was a warning. portable requires portable names.
func feed[T any](r *reader, cases iter.Seq[Case[T]], read func(c Case[T], portable bool) (warned bool, err error)) {
	for c := range cases {
		class, ok := r.classes[c.Class]
		if !ok {
			r.problem(c.Class, c.Name, "there is no such class in the table")
			continue
		}
		r.Inputs[c.Class]++
		r.found = nil
		before := allocated()
		warned, err := read(c, false)
		if work := allocated() - before; work > r.Work {
			r.Work, r.Hardest = work, c.Class+" "+c.Name
		}
		r.judge(class, warned, err)
		if class.Verdict == Unportable {
			if _, err := read(c, true); err == nil {
				r.found = append(r.found, "it is accepted although names must be portable")
			}
		}
		r.tidy()
		for _, problem := range r.found {
			r.problem(c.Class, c.Name, problem)
		}
	}
	if r.Work > mostWork {
		r.problem(r.Hardest, "", fmt.Sprintf("%d MiB were allocated for it", r.Work>>20))
	}
	// Free the garbage of these inputs, so that later peaks do not include it.
	debug.FreeOSMemory()
}

func (r *reader) problem(class, name, problem string) {
	r.Problems = append(r.Problems, fmt.Sprintf("%s %s: %s", class, name, problem))
}

func (r *reader) judge(class Class, warned bool, err error) {
	if class.Verdict == Unportable && err != nil && runtime.GOOS != "linux" {
		return // the file system cannot store it
	}
	if refused := class.Verdict == Refused; refused != (err != nil) {
		r.found = append(r.found, fmt.Sprintf("the error is %v, and it should be %v because %s", err, class.Verdict, class.Why))
	}
	if class.Verdict != Refused && class.Verdict != Accepted && !warned {
		r.found = append(r.found, "there is no warning that it is "+class.Verdict.String())
	}
	if err == nil {
		return
	}
	if text := err.Error(); len(text) > maxMessage {
		r.found = append(r.found, fmt.Sprintf("the error has %d bytes: %.100q...", len(text), text))
	} else if i := strings.IndexFunc(text, unsafeRune); i >= 0 {
		r.found = append(r.found, fmt.Sprintf("the error %q holds what a terminal acts on", text))
	}
}

func (r *reader) checkWarnings(warnings []string) {
	for _, text := range warnings {
		if len(text) > maxMessage || strings.ContainsFunc(text, unsafeRune) {
			r.found = append(r.found, fmt.Sprintf("the warning %.200q is long, or holds what a terminal acts on", text))
		}
	}
}

func unsafeRune(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

func (r *reader) dir() string { return filepath.Join(r.base, "work", "package") }

// tidy removes accepted packages, and reports files that are left after a refusal.
func (r *reader) tidy() {
	if err := os.RemoveAll(r.dir()); err != nil {
		r.found = append(r.found, err.Error())
	}
	for _, dir := range []string{"work", "tmp"} {
		entries, err := os.ReadDir(filepath.Join(r.base, dir))
		if err != nil || len(entries) > 0 {
			r.found = append(r.found, fmt.Sprintf("in %s there is left %v, %v", dir, entries, err))
		}
	}
}

func (r *reader) checkTree(err error) {
	if err != nil {
		if _, err := os.Lstat(r.dir()); !errors.Is(err, fs.ErrNotExist) {
			r.found = append(r.found, "a refused package is left")
		}
		return
	}
	err = filepath.WalkDir(r.dir(), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch mode := info.Mode(); {
		case mode.Type() == fs.ModeSymlink:
			return r.checkLink(name)
		case mode == fs.ModeDir|0o755, mode == 0o644, mode == 0o755:
			return nil
		default:
			return fmt.Errorf("%q has the mode %v", name, mode)
		}
	})
	if err != nil {
		r.found = append(r.found, err.Error())
	}
}

func (r *reader) checkLink(name string) error {
	base, err := filepath.EvalSymlinks(r.dir())
	if err != nil {
		return err
	}
	at, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("the link %q leads nowhere: %w", name, err)
	}
	if at != base && !strings.HasPrefix(at, base+string(filepath.Separator)) {
		return fmt.Errorf("the link %q points to %q", name, at)
	}
	return nil
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample) // unlike runtime.ReadMemStats, it stops no goroutine
	return sample[0].Value.Uint64()
}

// peak returns the peak memory of this process in bytes, as counted by the kernel since the start
// of the program.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kib, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
