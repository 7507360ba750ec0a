package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
)

// TestOriginWarnings prints warnings that modules have in common, beside other ones. Those of several projects are in
// testdata/golden.
func TestOriginWarnings(t *testing.T) {
	t.Parallel()
	const commit = "1ba9f699385c1ba9f699385c1ba9f699385c1ba9"
	warning := func(kind event.WarningKind, message string, path ...string) event.Warning {
		return event.Warning{Path: addrs.Module(path), Kind: kind, Message: message}
	}
	moved := func(path ...string) event.Warning {
		return warning(event.WarningMoved, "tag v1.0.0 points to "+commit+" now", path...)
	}
	type ev struct {
		dir     string
		warning event.Warning
	}
	for _, test := range []struct {
		name   string
		events []ev
		want   string
	}{
		{"none", nil, ""},
		{"another kind", []ev{{"", warning(event.WarningRestored, "x", "a")}}, ""},
		{"two modules, and another warning", []ev{{"", moved("b")}, {"", warning(event.WarningUnknownHistory, "it is not known", "c")}, {"", moved("app", "a")}}, "" +
			"Warning: tag v1.0.0 points to 1ba9f699385c now, in 2 modules:\n" +
			"  module app.a\n" +
			"  module b\n" +
			"  If you know why the tag has moved, run `cotter update app.a b --accept-changed app.a --accept-changed b` to lock what it points to now.\n" +
			"Warning: module c: it is not known\n" +
			"  Run `cotter update c` to lock what the address points to now.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var warnings originWarnings
			for _, e := range test.events {
				if taken := warnings.take(e.dir, e.warning); taken != (e.warning.Kind != event.WarningRestored) {
					t.Errorf("the warning %q was taken: %t", e.warning.Message, taken)
				}
			}
			var stderr strings.Builder
			warnings.print(&output{stderr: &stderr})
			if diff := cmp.Diff(test.want, stderr.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
