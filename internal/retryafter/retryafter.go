// Package retryafter parses the header Retry-After (RFC 9110, section 10.2.3), with which a
// server that answers 429 or 503 asks clients to pause. It also shares such pauses within a
// process.
//
// After a server has asked for a pause, all requests of the process to the same host wait.
// Otherwise each of them would be refused in turn, and servers tend to respond to further
// requests with longer pauses. A host is identified by its name and port as they appear in URLs.
// Pauses that other processes were asked for are not known.
package retryafter

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

// Longest is the longest pause that is respected by waiting. If a server asks for a longer one,
// the failure should be reported instead.
const Longest = time.Minute

// Request is the pause that an answer asks for. The zero value asks for none.
type Request struct {
	Wait  time.Duration
	Asked bool
}

// Requested parses the header in the same way as [Asked].
func Requested(header string) (r Request) {
	r.Wait, r.Asked = Asked(header)
	return r
}

// TooLong reports whether the pause is longer than [Longest].
func (r Request) TooLong() bool { return r.Asked && r.Wait > Longest }

// Advice returns the end of a message about a pause that is too long, or "".
func (r Request) Advice() string {
	if !r.TooLong() {
		return ""
	}
	return fmt.Sprintf("; the server asks clients to wait %v before they try again", r.Wait.Round(time.Second))
}

// IsTemporary reports whether a later request may get another status. It is true for 429, and for
// 5xx except 501.
func IsTemporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// Asked parses the header, which is a number of seconds or a date. If it is neither, the header
// is treated as absent. A date in the past means no pause.
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

// Hosts has the pauses that hosts have asked for. The zero value is ready for use. It is safe for
// concurrent use. A nil *Hosts has no pauses.
type Hosts struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Ask records that a host has asked for a pause. The pause is limited to [Longest].
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

// Wait waits until the host's pause is over. It returns an error only if ctx ends first.
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

// Sleep waits for a duration. It returns an error only if ctx ends first.
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
