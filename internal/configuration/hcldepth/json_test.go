package hcldepth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
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
		{"above", "\n" + arrays(201), &hcldepth.DepthError{Line: 2, Column: 201}},
		{"objects", strings.Repeat(`{"a":`, 300_000), &hcldepth.DepthError{Line: 1, Column: 1001}},
		{"brackets in strings", `{"a": "` + strings.Repeat(`[{\"`, 10_000) + `"}`, nil},
		{"wide", `[` + strings.Repeat(`{"a":[1,-2.5e3,true,null,"x"]},`, 7_000) + `{}]`, nil},
		{"misfit, little behind", `{"a" 1, "b": [[]]}`, nil},
		{"misfit, much behind", `{"a" 1, "b": [` + strings.Repeat(`[],`, 10_000) + `]}`, &hcldepth.SyntaxError{Line: 1, Column: 6}},
		{"trailing comma, much behind", `[{"a":1,},` + strings.Repeat(`[],`, 10_000), &hcldepth.SyntaxError{Line: 1, Column: 9}},
		{"wrong closer", `[}` + strings.Repeat(`[],`, 10_000), &hcldepth.SyntaxError{Line: 1, Column: 2}},
		{"closer without opener", `]` + strings.Repeat(`[],`, 10_000), &hcldepth.SyntaxError{Line: 1, Column: 1}},
		{"two values", `{}` + strings.Repeat(`[],`, 10_000), &hcldepth.SyntaxError{Line: 1, Column: 3}},
		// To HCL's scanner, the first quote after this character is a part of the character.
		{"quote in a character", "[\"\u0600\",\"," + strings.Repeat("[", 2_000_000) + "\"]", &hcldepth.DepthError{Line: 1, Column: 207}},
		{"quote in a character, closed", "[\"\u0600\",\"," + strings.Repeat("[]", 2_000) + "\"]", &hcldepth.DepthError{Line: 1, Column: 1, TooLarge: true}},
		{"no quote in a character", "[\"\u00e9\u0301\",\"" + strings.Repeat("[", 1_000) + "\"]", nil},
		{"line break in string", "[\"\n\"" + strings.Repeat(`[],`, 10_000), &hcldepth.SyntaxError{Line: 1, Column: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := hcldepth.CheckJSON([]byte(tt.src), hcldepth.MaxTokens)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("CheckJSON = %v, want %v", got, tt.want)
			}
			if got == nil {
				json.Parse([]byte(tt.src), "x.tf.json") // must return
			}
		})
	}
}
