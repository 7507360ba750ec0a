package nesting_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/nesting"
	"github.com/hashicorp/hcl/v2/json"
)

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, src string
		want      error
	}{
		{"empty", "", nil},
		{"at the limit", arrays(200), nil},
		{"above", "\n" + arrays(201), &nesting.DepthError{Line: 2, Column: 201, Limit: 200}},
		{"objects", strings.Repeat(`{"a":`, 300_000), &nesting.DepthError{Line: 1, Column: 1001, Limit: 200}},
		{"brackets in strings", `{"a": "` + strings.Repeat(`[{\"`, 10_000) + `"}`, nil},
		{"wide", `[` + strings.Repeat(`{"a":[1,-2.5e3,true,null,"x"]},`, 50_000) + `{}]`, nil},
		{"misfit, little behind", `{"a" 1, "b": [[]]}`, nil},
		{"misfit, much behind", `{"a" 1, "b": [` + strings.Repeat(`[],`, 10_000) + `]}`, &nesting.SyntaxError{Line: 1, Column: 6}},
		{"trailing comma, much behind", `[{"a":1,},` + strings.Repeat(`[],`, 10_000), &nesting.SyntaxError{Line: 1, Column: 9}},
		{"wrong closer", `[}` + strings.Repeat(`[],`, 10_000), &nesting.SyntaxError{Line: 1, Column: 2}},
		{"closer without opener", `]` + strings.Repeat(`[],`, 10_000), &nesting.SyntaxError{Line: 1, Column: 1}},
		{"two values", `{}` + strings.Repeat(`[],`, 10_000), &nesting.SyntaxError{Line: 1, Column: 3}},
		{"line break in string", "[\"\n\"" + strings.Repeat(`[],`, 10_000), &nesting.SyntaxError{Line: 1, Column: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := nesting.CheckJSON([]byte(tt.src), 200)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("CheckJSON = %v, want %v", got, tt.want)
			}
			if got == nil {
				json.Parse([]byte(tt.src), "x.tf.json") // must return
			}
		})
	}
}

func TestLimitsAreClamped(t *testing.T) {
	t.Parallel()
	deep := []byte("a = " + strings.Repeat("[", nesting.MaxLimit+1))
	if err := nesting.CheckHCL(deep, 1_000_000); err == nil {
		t.Errorf("CheckHCL with a limit above MaxLimit = nil, want a DepthError")
	}
	if err := nesting.CheckJSON(deep[4:], 1_000_000); err == nil {
		t.Errorf("CheckJSON with a limit above MaxLimit = nil, want a DepthError")
	}
	if err := nesting.CheckHCL([]byte("a = []\n"), -1); err == nil {
		t.Errorf("CheckHCL with limit -1 = nil, want a DepthError")
	}
}

func TestCheckJSONDoesNotAllocate(t *testing.T) {
	src := []byte(`{"a":[1,{"b":"c"}]}`)
	if n := testing.AllocsPerRun(10, func() { _ = nesting.CheckJSON(src, 200) }); n != 0 {
		t.Errorf("CheckJSON allocates %v times, want 0", n)
	}
}
