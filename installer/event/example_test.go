package event_test

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/versions"
)

// A callback that prints a few kinds of events.
func Example() {
	onEvent := func(e event.Event) {
		switch e := e.(type) {
		case event.Resolved:
			fmt.Printf("%s: %s (%s)\n", e.Path, e.Version, e.Selection)
		case event.Warning:
			fmt.Printf("%s: warning: %s\n", e.Path, e.Message)
		}
	}
	net := addrs.Module{"net"}
	onEvent(event.Resolved{Path: net, Version: versions.MustParse("1.2.0"), Selection: event.SelectionLocked})
	onEvent(event.ModuleReady{Path: net, Dir: ".terraform/modules/net"})
	onEvent(event.Warning{Path: net, Kind: event.WarningMoved, Message: "tag v1.2.0 was moved"})
	// Output:
	// net: 1.2.0 (locked)
	// net: warning: tag v1.2.0 was moved
}

// Text and zero value of a selection.
func ExampleSelection() {
	fmt.Println(event.SelectionSameSource, event.SelectionSameSource.IsInUse())
	fmt.Println(event.Selection(""), event.Selection("").IsInUse())
	// Output:
	// same source true
	// unknown false
}
