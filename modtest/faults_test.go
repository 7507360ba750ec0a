package modtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const plainFile = "-- files/a --\n0123456789\n-- files/b --\n0123456789\n"

func TestFaults(t *testing.T) {
	t.Parallel()
	const whole = "0123456789\n"
	for _, test := range []struct {
		name   string
		fault  modtest.Fault
		status int
		header string
		value  string
		body   string
	}{
		{"other path", modtest.Fault{Path: "/files/b", Status: 500}, 200, "Location", "", whole},
		{"path", modtest.Fault{Path: "/files/a", Status: 500, Body: "broken"}, 500, "Location", "", "broken"},
		{
			"redirect", modtest.Fault{Status: 302, Header: http.Header{"Location": {"https://MODTEST_HOST/files/b"}}},
			302, "Location", "https://HOST/files/b", "",
		},
		{
			"wrong type", modtest.Fault{Header: http.Header{"Content-Type": {"image/png"}}},
			200, "Content-Type", "image/png", whole,
		},
		{
			"retry later", modtest.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}},
			429, "Retry-After", "7", "",
		},
		{"retry now", modtest.Fault{Status: 429}, 429, "Retry-After", "0", ""},
		{"slow", modtest.Fault{Delay: time.Millisecond}, 200, "Location", "", whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(plainFile), modtest.Options{Faults: []modtest.Fault{test.fault}})
			r := get(t, world, "/files/a")
			if r.status != test.status || r.body != test.body {
				t.Errorf("answer = %d %q, want %d %q", r.status, r.body, test.status, test.body)
			}
			want := test.value
			if want == "https://HOST/files/b" {
				want = world.URL() + "/files/b"
			}
			if got := r.header.Get(test.header); got != want {
				t.Errorf("%s = %q, want %q", test.header, got, want)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(plainFile))
	for name, fault := range map[string]modtest.Fault{
		"true answer":  {Truncate: true},
		"other answer": {Truncate: true, Status: 200, Body: "abcdefgh"},
	} {
		world.SetFaults(fault)
		r, err := tryGet(t, world, "/files/a")
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: error = %v, want an unexpected end of the body", name, err)
		}
		if r.body != "01234" && r.body != "abcd" {
			t.Errorf("%s: body = %q, want the half of it", name, r.body)
		}
	}
	resp, err := world.HTTPClient().Head(world.URL() + "/files/a")
	if err != nil {
		t.Fatalf("HEAD: %v, want an answer that nothing is cut from", err)
	}
	resp.Body.Close()
}

func TestSetFaults(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(plainFile))
	once := modtest.Fault{Status: 500, Times: 1}
	for i, step := range []struct {
		set  []modtest.Fault
		want []int
	}{
		{[]modtest.Fault{once}, []int{500, 200}},
		{[]modtest.Fault{once}, []int{500, 200}}, // counts start again
		{[]modtest.Fault{once, {Status: 404, Times: 1}}, []int{500, 404, 200}},
		{[]modtest.Fault{{Status: 404}}, []int{404, 404, 404}},
		{nil, []int{200}},
	} {
		world.SetFaults(step.set...)
		for j, want := range step.want {
			if r := get(t, world, "/files/a"); r.status != want {
				t.Errorf("step %d, request %d = %d, want %d", i+1, j+1, r.status, want)
			}
		}
	}
}

// A delayed answer must not block a client that gives up, and must not block Close.
func TestDelayEnds(t *testing.T) {
	t.Parallel()
	world, err := modtest.Start(modtest.Txtar(plainFile), modtest.Options{Faults: []modtest.Fault{{Delay: time.Hour}}})
	testenv.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, world.URL()+"/files/a", nil)
		testenv.Must(t, err)
		go func() {
			_, err := world.HTTPClient().Do(req)
			done <- err
		}()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("request that was given up: %v, want %v", err, context.Canceled)
	}
	if err := world.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-done; err == nil {
		t.Error("request that was cut off by Close: no error")
	}
}
