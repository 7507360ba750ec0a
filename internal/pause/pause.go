// Package pause keeps requests from servers that have asked for a pause, which
// they do by the header Retry-After (RFC 9110, section 10.2.3) in an answer with
// status 429 or 503.
//
// One request is told, and all others of the process to the same server wait
// with it, rather than each be told in turn. Servers that want to be left alone
// get angrier with each request. A host is told apart by its name and port, as
// they are in URLs. What other processes were told is not known.
package pause

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Longest is the longest pause that is kept to. Whoever is asked for a longer one
// would not be answered sooner, and had better say so to the user.
const Longest = time.Minute

// Request is what an answer asks for. The zero value asks for nothing.
type Request struct {
	Wait  time.Duration
	Asked bool
}

// Requested reads the header as [Asked] does.
func Requested(header string) (r Request) {
	r.Wait, r.Asked = Asked(header)
	return r
}

// TooLong reports whether more is asked for than is kept to.
func (r Request) TooLong() bool { return r.Asked && r.Wait > Longest }

// Advice is what a message says behind the failure where the pause is too long,
// and "" elsewhere.
func (r Request) Advice() string {
	if !r.TooLong() {
		return ""
	}
	return fmt.Sprintf("; it asks to be left alone for %v, so try again then", r.Wait.Round(time.Second))
}

// IsTemporary reports whether what was answered with a status may be answered
// differently some time: 429, and 5xx except 501.
func IsTemporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// Asked reads the header, which is a number of seconds or a date. What is
// neither counts as absent; a date in the past is no pause.
func Asked(header string) (wait time.Duration, asked bool) {
	seconds, err := strconv.ParseUint(header, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && seconds > math.MaxInt64/uint64(time.Second):
		return math.MaxInt64, true
	case err == nil:
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}

// Hosts are the servers that have asked for a pause. The zero value is ready for
// use, also by several goroutines; a nil one knows of no pauses.
type Hosts struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Ask notes that a host has asked for a pause, of which no more than [Longest] is
// kept.
func (h *Hosts) Ask(host string, wait time.Duration) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = make(map[string]time.Time)
	}
	if end := time.Now().Add(min(wait, Longest)); end.After(h.until[host]) {
		h.until[host] = end
	}
}

// Wait waits until the pause is over that a host has asked for so far. The error
// is that of ctx.
func (h *Hosts) Wait(ctx context.Context, host string) error {
	if err := ctx.Err(); err != nil || h == nil {
		return err
	}
	h.mu.Lock()
	left := time.Until(h.until[host])
	h.mu.Unlock()
	if left <= 0 {
		return nil
	}
	return Sleep(ctx, left)
}

// Sleep waits for some time. The error is that of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
