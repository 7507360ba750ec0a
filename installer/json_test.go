package installer_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A program can store results and events as JSON, and read them.
func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	var events []event.Resolved
	result, err := p.installer().Install(context.Background(), installer.Project{Dir: p.dir, OnEvent: func(e installer.Event) {
		if resolved, ok := e.(event.Resolved); ok {
			events = append(events, resolved)
		}
	}}, installer.InstallOptions{})
	testenv.Must(t, err)
	outdated, err := p.installer().Outdated(context.Background(), installer.Project{Dir: p.dir}, installer.OriginOptions{})
	testenv.Must(t, err)
	read := readBack(t, result)
	for i, m := range result.Modules {
		if got := read.Modules[i]; got.Source != m.Source || got.Package != m.Package {
			t.Errorf("the module %s is read with the source %v and the package %v", m.Path, got.Source, got.Package)
		}
	}
	if !slices.EqualFunc(result.LockChanges, read.LockChanges, func(a, b installer.LockChange) bool { return a.New.Equal(b.New) }) {
		t.Errorf("the changes of the lock are read as %+v", read.LockChanges)
	}
	readBack(t, &events)
	readBack(t, outdated)
}

// readBack returns what is read from a value as JSON, and fails if that has another JSON.
func readBack[T any](t *testing.T, value *T) *T {
	t.Helper()
	text, err := json.Marshal(value)
	testenv.Must(t, err)
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again, err := json.Marshal(read); err != nil || string(again) != string(text) {
		t.Errorf("%v, want\n%s\ngot\n%s", err, text, again)
	}
	return read
}
