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

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// The copy of the lock is sealed with the records of the evidence for its entries, so that a later
// run needs neither a cache nor an origin. Before the text of the lock, it has a line with the
// number of records, and a line for each record: the SHA-256 sum of its text, and a time.
//
//	# confirmed 2
//	# 5f2a... 2026-11-22T10:00:00Z
//	# 9c01... 2026-11-22T10:00:00Z

const (
	copyPurpose  = "lock copy with evidence"
	copyHeader   = "# confirmed "
	recordPrefix = "# "
	// maxRecords bounds the records of a copy. Each of the calls of a tree has a few.
	maxRecords = 100_000
	maxCopy    = maxLock + maxSeal + maxRecords*100
)

func recordName(record string) string {
	sum := sha256.Sum256([]byte(record))
	return hex.EncodeToString(sum[:])
}

func (p *Project) sealCopy(lock []byte, confirmed map[string]time.Time) []byte {
	byName := make(map[string]time.Time, len(confirmed))
	for record, since := range confirmed {
		byName[recordName(record)] = since
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%d\n", copyHeader, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(&b, "%s%s %s\n", recordPrefix, name, byName[name].UTC().Format(time.RFC3339))
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
		p.former, p.confirmed, err = parseCopy(text)
	}
	if err != nil {
		p.note(UnprovenLockCopy, lockCopyName)
	}
}

var errCopyForm = errors.New("the copy of the lock does not begin with its records")

func parseCopy(text []byte) (lock []byte, confirmed map[string]time.Time, err error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	number, ok := strings.CutPrefix(string(line), copyHeader)
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || n > maxRecords {
		return nil, nil, errCopyForm
	}
	confirmed = make(map[string]time.Time)
	for range n {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		record, ok := strings.CutPrefix(string(line), recordPrefix)
		name, since, both := strings.Cut(record, " ")
		at, err := time.Parse(time.RFC3339, since)
		if !found || !ok || !both || err != nil || len(name) != 2*sha256.Size {
			return nil, nil, errCopyForm
		}
		confirmed[name], rest = at, after
	}
	return append([]byte{}, rest...), confirmed, nil // not nil, even if the lock is empty
}

// Confirmed reports whether the last run has kept a record of evidence, and since when there is evidence.
func (p *Project) Confirmed(record string) (since time.Time, ok bool) {
	since, ok = p.confirmed[recordName(record)]
	return since, ok
}

func (p *Project) keepsAll(records map[string]time.Time) bool {
	if len(records) != len(p.confirmed) {
		return false
	}
	for record := range records {
		if _, ok := p.Confirmed(record); !ok {
			return false
		}
	}
	return true
}
