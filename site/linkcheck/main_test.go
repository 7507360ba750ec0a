package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	page := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tests := []struct {
		name, index string
		want        string
	}{
		{"another page", `<a href="a.html">`, ""},
		{"an element", `<a href="a.html#part">`, ""},
		{"its own element", `<h1 id="x"><a href="#x">`, ""},
		{"another host", `<a href="https://example.com/nothing">`, ""},
		{"a picture", `<img src="p.svg">`, "index.html: p.svg: "},
		{"no such page", `<a href="b.html">`, "index.html: b.html: "},
		{"no such element", `<a href="a.html#other">`, `a.html has no element "other"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := check(fstest.MapFS{"index.html": page("<h1>Start</h1>" + test.index), "a.html": page(`<h1 id="part">A</h1>`)})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("check: %v, want %q", err, test.want)
			}
		})
	}
	if err := check(fstest.MapFS{"index.html": page("")}); err == nil {
		t.Error("an empty page is accepted")
	}
	if err := check(fstest.MapFS{}); err == nil {
		t.Error("a site without pages is accepted")
	}
}
