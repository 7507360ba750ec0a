package sanitize

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxKept is the number of bytes of a program's output that are kept: enough for any message, and
// not too many for a log. The end of the output is kept, because programs print the cause last.
const MaxKept = 8 << 10

// Tail keeps the last bytes that a program has written to its standard error. The zero value is
// ready for use. It is safe for concurrent use.
type Tail struct {
	mu    sync.Mutex
	buf   []byte
	cut   bool
	idle  time.Duration
	timer *time.Timer
}

// Watch calls silent if nothing is written for the duration idle.
func (t *Tail) Watch(idle time.Duration, silent func()) {
	t.idle = idle
	t.timer = time.AfterFunc(idle, silent)
}

func (t *Tail) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Write adds output. It keeps twice as much as is needed, so that a secret at the beginning of
// the excerpt is still complete when it is removed.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Reset(t.idle)
	}
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 2*MaxKept; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// Excerpt returns the last whole lines, escaped, without secrets and progress displays.
func (t *Tail) Excerpt(secrets []string) string {
	t.mu.Lock()
	text, cut := string(t.buf), t.cut
	t.mu.Unlock()
	lines := strings.Split(text, "\n")
	if cut {
		lines = lines[1:] // the first one is not complete
	}
	var kept []string
	size := 0
	for _, line := range slices.Backward(lines) {
		line = Escape(Redact(lastOverwrite(line), secrets))
		if line == "" {
			continue
		}
		if size += len(line) + 1; size > MaxKept {
			break
		}
		kept = append(kept, line)
	}
	slices.Reverse(kept)
	return strings.Join(kept, "\n")
}

// lastOverwrite returns what a terminal shows of a line that was overwritten by carriage returns.
// It returns "" for a progress display.
func lastOverwrite(line string) string {
	line = strings.TrimRight(line, "\r \t")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if strings.Contains(line, "% (") {
		return ""
	}
	return line
}
