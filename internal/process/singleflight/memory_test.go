package singleflight_test

import (
	"testing"

	"github.com/cotterpin/cotter/internal/process/singleflight"
)

func TestMemoryClose(t *testing.T) {
	t.Parallel()
	ends := 0
	end := func() { ends++ }
	if singleflight.OnClose(t.Context(), end) {
		t.Error("OnClose without a memory = true, but nothing will call its function")
	}
	var m singleflight.Memory
	ctx := m.In(t.Context())
	for range 2 {
		if !singleflight.OnClose(ctx, end) {
			t.Error("OnClose = false")
		}
	}
	m.Close()
	m.Close()
	if ends != 2 {
		t.Errorf("Close called %d functions, want each of 2 once", ends)
	}
	if singleflight.OnClose(ctx, end) {
		t.Error("OnClose after Close = true")
	}
	(*singleflight.Memory)(nil).Close()
}
