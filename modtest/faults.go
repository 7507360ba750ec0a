package modtest

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SetFaults replaces the faults, or removes all, and resets their counts.
func (w *World) SetFaults(list ...Fault) { w.faults.set(slices.Clone(list), w.host) }

type faults struct {
	mu   sync.Mutex
	list []Fault
	host string
	seen map[strike]int
}

type strike struct {
	fault int
	path  string
}

func (f *faults) set(list []Fault, host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list, f.host, f.seen = list, host, map[strike]int{}
}

// next counts the first fault that affects a request.
func (f *faults) next(r *http.Request) (Fault, bool) {
	path, to := r.URL.Path, url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	if r.TLS == nil {
		to.Scheme = "http"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.list {
		if !strings.HasPrefix(path, fault.Path) || fault.RedirectHost != "" && fault.RedirectHost == to.Hostname() {
			continue
		}
		key := strike{i, path}
		if fault.Times > 0 && f.seen[key] >= fault.Times {
			continue
		}
		f.seen[key]++
		fault.Header = f.expanded(fault.Header)
		if fault.RedirectHost != "" {
			to.Host = net.JoinHostPort(fault.RedirectHost, to.Port())
			fault.Status = http.StatusTemporaryRedirect
			fault.Header.Set("Location", to.String())
		}
		return fault, true
	}
	return Fault{}, false
}

func (f *faults) expanded(header http.Header) http.Header {
	out := http.Header{}
	for name, values := range header {
		for _, v := range values {
			out.Add(name, strings.ReplaceAll(v, HostPlaceholder, f.host))
		}
	}
	return out
}

func (f *faults) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, struck := f.next(r)
		if !struck {
			h.ServeHTTP(w, r)
			return
		}
		if !fault.wait(r) {
			panic(http.ErrAbortHandler)
		}
		a := answer{header: http.Header{}, status: http.StatusOK}
		if fault.Status != 0 {
			fault.fill(&a)
		} else {
			h.ServeHTTP(&a, r)
		}
		maps.Copy(a.header, fault.Header)
		a.send(w, fault.Truncate && r.Method != http.MethodHead)
	})
}

// wait reports whether the client is still connected after the delay.
func (f Fault) wait(r *http.Request) bool {
	if f.Delay <= 0 {
		return true
	}
	t := time.NewTimer(f.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (f Fault) fill(a *answer) {
	a.status = f.Status
	a.header.Set("Content-Type", "text/plain; charset=utf-8")
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable {
		a.header.Set("Retry-After", "0")
	}
	io.WriteString(&a.body, f.Body) // a buffer takes everything
}

// answer is buffered, and can be changed before it is sent.
type answer struct {
	header http.Header
	status int
	sent   bool // whether the status is settled
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if !a.sent {
		a.status, a.sent = status, true
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.sent = true
	return a.body.Write(p)
}

func (a *answer) send(w http.ResponseWriter, truncate bool) {
	maps.Copy(w.Header(), a.header)
	body := a.body.Bytes()
	if truncate {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		body = body[:len(body)/2]
	}
	w.WriteHeader(a.status)
	// A client that has disconnected needs no answer.
	_, _ = w.Write(body)
	if truncate {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
