package gitcmd

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
)

// maxStderr is how much of git's words is kept: enough for any message, little
// enough for a log. The end is kept, because git names the cause last.
const maxStderr = 8 << 10

// tail keeps the last bytes written to it.
type tail struct {
	mu    sync.Mutex
	buf   []byte
	cut   bool
	idle  time.Duration
	timer *time.Timer
}

// watch calls silent when nothing was written for so long.
func (t *tail) watch(idle time.Duration, silent func()) {
	t.idle = idle
	t.timer = time.AfterFunc(idle, silent)
}

func (t *tail) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Write keeps twice what is needed, so that a secret at the cut is still whole
// when it is looked for.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Reset(t.idle)
	}
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 2*maxStderr; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// excerpt is what was kept, fit to be shown.
func (t *tail) excerpt(secrets []string) string {
	t.mu.Lock()
	text, cut := string(t.buf), t.cut
	t.mu.Unlock()
	lines := strings.Split(text, "\n")
	if cut {
		lines = lines[1:] // begins somewhere inside a line
	}
	var kept []string
	size := 0
	for _, line := range slices.Backward(lines) {
		line = escape(redact(lastOverwrite(line), secrets))
		if line == "" {
			continue
		}
		if size += len(line) + 1; size > maxStderr {
			break
		}
		kept = append(kept, line)
	}
	slices.Reverse(kept)
	return strings.Join(kept, "\n")
}

// lastOverwrite is what a terminal shows of a line that was rewritten by
// carriage returns, and nothing where that is a progress display.
func lastOverwrite(line string) string {
	line = strings.TrimRight(line, "\r \t")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if strings.Contains(line, "% (") {
		return ""
	}
	return line
}

// escape makes foreign text safe for a terminal: control, direction and
// invisible characters become escapes.
func escape(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

const redacted = "REDACTED"

// minSecret is the length from which a secret is looked for by value. Shorter
// ones are words like any other: to take them out would make git's messages
// unreadable, and would show what they are.
const minSecret = 6

// redact takes secrets, by value in every spelling that git prints, and the
// userinfo and the arguments of URLs out of s.
func redact(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			s = strings.ReplaceAll(s, spelling, redacted)
		}
	}
	return addrs.RedactText(s)
}

func redactAll(args, secrets []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = redact(arg, secrets)
	}
	return out
}
