package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// The copy of the lock is sealed with the records of the evidence for its entries, so that a later
// run needs neither a cache nor an origin, and with the marks of source addresses that the lock does not
// show in full. Before the text of the lock, it has a line with the number of records, and a line for each
// record: the SHA-256 sum of its text, and a time. Then it has the same for marks: the mark and the key of
// the call.
//
//	# confirmed 2
//	# 5f2a... 2026-11-22T10:00:00Z
//	# 9c01... 2026-11-22T10:00:00Z
//	# addresses 1
//	# 71d0... app.network

const (
	copyPurpose  = "lock copy with evidence"
	copyHeader   = "# confirmed "
	marksHeader  = "# addresses "
	recordPrefix = "# "
	// maxRecords bounds the records of a copy. Each of the calls of a tree has a few.
	maxRecords = 100_000
	maxCopy    = maxLock + maxSeal + maxRecords*(100+400) // the key of a call has up to 255 bytes
)

func recordName(record string) string {
	sum := sha256.Sum256([]byte(record))
	return hex.EncodeToString(sum[:])
}

func (p *Project) sealCopy(lock []byte, confirmed map[string]time.Time, marks map[string]string) []byte {
	byName := make(map[string]time.Time, len(confirmed))
	for record, since := range confirmed {
		byName[recordName(record)] = since
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%d\n", copyHeader, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(&b, "%s%s %s\n", recordPrefix, name, byName[name].UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "%s%d\n", marksHeader, len(marks))
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		fmt.Fprintf(&b, "%s%s %s\n", recordPrefix, marks[key], key)
	}
	b.Write(lock)
	return p.key.Seal(p.purpose(copyPurpose), b.Bytes())
}

func (p *Project) readFormerLock() {
	sealed, err := atomicfile.Read(p.modules, lockCopyName, maxCopy)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var text []byte
	if err == nil {
		text, err = p.key.Open(p.purpose(copyPurpose), sealed)
	}
	if err == nil {
		p.former, p.confirmed, p.marks, err = parseCopy(text)
	}
	if err != nil {
		p.note(UnprovenLockCopy, lockCopyName)
	}
}

var errCopyForm = errors.New("the copy of the lock does not begin with its records")

func parseCopy(text []byte) (lock []byte, confirmed map[string]time.Time, marks map[string]string, err error) {
	confirmed, marks = make(map[string]time.Time), make(map[string]string)
	rest, err := parseRecords(text, copyHeader, func(name, since string) error {
		at, err := time.Parse(time.RFC3339, since)
		confirmed[name] = at
		return err
	})
	if err == nil {
		rest, err = parseRecords(rest, marksHeader, func(mark, key string) error {
			marks[key] = mark
			return nil
		})
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return append([]byte{}, rest...), confirmed, marks, nil // not nil, even if the lock is empty
}

// parseRecords calls add with the parts of each record below a header, and returns the text after them.
func parseRecords(text []byte, header string, add func(sum, about string) error) (rest []byte, err error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	number, ok := strings.CutPrefix(string(line), header)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || n > maxRecords {
		return nil, errCopyForm
	}
	for range n {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		record, ok := strings.CutPrefix(string(line), recordPrefix)
		sum, about, both := strings.Cut(record, " ")
		if !found || !ok || !both || len(sum) != 2*sha256.Size || add(sum, about) != nil {
			return nil, errCopyForm
		}
		rest = after
	}
	return rest, nil
}

// Mark returns the mark that the last run has kept of a call, or "".
func (p *Project) Mark(key string) string { return p.marks[key] }

// Confirmed reports whether the last run has kept a record of evidence, and since when there is evidence.
func (p *Project) Confirmed(record string) (since time.Time, ok bool) {
	since, ok = p.confirmed[recordName(record)]
	return since, ok
}

// keepsAll reports whether the copy has these records and marks.
func (p *Project) keepsAll(records map[string]time.Time, marks map[string]string) bool {
	if len(records) != len(p.confirmed) || !maps.Equal(marks, p.marks) {
		return false
	}
	for record := range records {
		if _, ok := p.Confirmed(record); !ok {
			return false
		}
	}
	return true
}
