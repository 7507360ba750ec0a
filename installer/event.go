package installer

import (
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
)

// events serializes the calls of a run's callback, and passes on each warning once.
type events struct {
	fn func(Event)

	mu     sync.Mutex
	warned map[string]bool
}

func (e *events) emit(ev Event) {
	if e.fn == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, ok := ev.(event.Warning); ok {
		text := w.Path.String() + " " + w.Range.String() + " " + w.Message
		if e.warned[text] {
			return
		}
		if e.warned == nil {
			e.warned = make(map[string]bool)
		}
		e.warned[text] = true
	}
	e.fn(ev)
}

// ofFetches passes on only warnings and the events of fetches, for a walk that is repeated later.
func (e *events) ofFetches() *events {
	return &events{fn: func(ev Event) {
		switch ev.(type) {
		case event.FetchStarted, event.FetchProgress, event.FetchDone, event.WaitingForFetch, event.Warning:
			e.emit(ev)
		}
	}}
}

func (e *events) warn(path addrs.Module, message string) {
	e.emit(event.Warning{Path: path, Message: message})
}

func warningOf(path addrs.Module, diag *hcl.Diagnostic) event.Warning {
	w := event.Warning{Path: path, Message: diag.Summary}
	if diag.Detail != "" {
		w.Message += ": " + diag.Detail
	}
	if diag.Subject != nil {
		w.Range = *diag.Subject
	}
	return w
}
