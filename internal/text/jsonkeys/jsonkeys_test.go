package jsonkeys_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

type embedded struct {
	Size int `json:"size"`
}

type document struct {
	embedded
	MediaType string `json:"mediaType"`
	Layers    []struct {
		Digest      string            `json:"digest"`
		Annotations map[string]string `json:"annotations"`
	} `json:"layers"`
	Platform *struct{ OS string } `json:"platform"`
	Packages map[string]*embedded `json:"packages"`
	Later    json.RawMessage      `json:"later"`
	Any      any                  `json:"any"`
	Ignored  string               `json:"-"`
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "",
		` { "mediaType" : "a" , "layers" : [ { "digest" : "b" } , { "digest" : "c" } ] } `: "",
		`null`: "",
		`{"layers":null,"packages":{},"platform":null,"size":-15}`: "",
		`{"LAYERS":[]}`:                 "", // stock tools read it
		`{"x":1,"x":2}`:                 "",
		`{"x":{"layers":1,"layers":2}}`: "",
		`{"later":{"size":1,"size":2},"any":{"size":1,"size":2}}`:      "",
		`{"layers":[{"annotations":{"a":"1","A":"2"}}]}`:               "",
		`{"Ignored":"1","ignored":"2","-":1}`:                          "",
		`{"mediaType":"\"layers\":[],\\","x":"{\"layers\":["}`:         "",
		`{"layers":[{"digest":"a"},{"digest":"b","x":[{},[{}]]}]}`:     "",
		`{"layers":[],"layers":[]}`:                                    `the key "layers" twice`,
		`{"layers":[],"LAYERS":[]}`:                                    `the keys "layers" and "LAYERS"`,
		`{"LAYERS":[],"x":{"y":[1,"}"]},"layers":[]}`:                  `the keys "LAYERS" and "layers"`,
		`{"LAYERS":[],"Layers":[]}`:                                    `the keys "LAYERS" and "Layers"`,
		`{"layers":[],"l\u0061yers":[]}`:                               `the key "layers" twice`,
		`{"layers":[],"layer\u017f":[]}`:                               "the keys \"layers\" and \"layer\u017f\"",
		"{\"layers\":[],\"layer\u017f\":[]}":                           "the keys \"layers\" and \"layer\u017f\"",
		`{"size":1,"Size":2}`:                                          `the keys "size" and "Size"`,
		`{"platform":{"OS":"a","os":"b"}}`:                             `the keys "OS" and "os"`,
		`{"layers":[{"digest":"a"},{"x":1,"digest":"a","digest":""}]}`: `the key "digest" twice`,
		`{"layers":[{"annotations":{"a":"1","b":"","a":"2"}}]}`:        `the key "a" twice`,
		`{"packages":{"a":{"size":1,"SIZE":2}}}`:                       `the keys "size" and "SIZE"`,
		`{"packages":{"a":{},"a":null}}`:                               `the key "a" twice`,
		`{"layers":[]`:                                                 "unexpected end",
		`{"layers":{}}`:                                                "cannot unmarshal object",
	} {
		var got document
		err := jsonkeys.Unmarshal([]byte(text), &got)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Unmarshal(%s) = %v, want %q", text, err, want)
		}
	}
}

// A short text whose values need much memory is refused before it is decoded, wherever it has these values. What
// honest servers send is accepted.
func TestTooMuch(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const n = 3_000_000
	for name, text := range map[string]string{
		"elements":         `{"layers":[` + strings.Repeat("{},", n) + `{}]}`,
		"maps in elements": `{"layers":[` + strings.Repeat(`{"annotations":{}},`, n/4) + `{}]}`,
		"entries":          `{"packages":{` + entries(n/4) + `"":{}}}`,
		"nulls":            `{"layers":[` + strings.Repeat("null,", n) + `{}]}`,
		"any":              `{"any":[` + strings.Repeat("[],", n) + `[]]}`,
	} {
		var got document
		var err error
		allocated := testenv.Allocated(func() { err = jsonkeys.Unmarshal([]byte(text), &got) })
		if limit := uint64(3 * jsonkeys.MaxDecoded); !errors.Is(err, jsonkeys.ErrTooMuch) || allocated > limit {
			t.Errorf("%s: %v, after %d bytes were allocated", name, err, allocated)
		}
	}
	var got struct {
		Modules []struct {
			Versions []struct {
				Version    string
				Submodules []struct {
					Path      string
					Providers []struct{ Name, Version string }
				}
			}
		}
	}
	if err := jsonkeys.Unmarshal(listing(), &got); err != nil || len(got.Modules[0].Versions) != 20_001 {
		t.Errorf("a listing of 20,000 versions: %v", err)
	}
}

func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":{},`, i)
	}
	return b.String()
}

// FuzzUnmarshal compares the check with one by tokens, in which every key counts.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{`{"layers":[{"digest":"a","annotations":{"a":"b"}}],"size":1}`, `{"a":"\\\"","A":[1,{"b":null}]}`, `{"layers":1,"LAYERS":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want, got document
		wantErr, err := json.Unmarshal([]byte(text), &want), jsonkeys.Unmarshal([]byte(text), &got)
		duplicate, ok := errors.AsType[*jsonkeys.DuplicateError](err)
		switch {
		case wantErr != nil:
			if err == nil || err.Error() != wantErr.Error() {
				t.Errorf("%q: %v, want %v", text, err, wantErr)
			}
		case ok:
			if !strings.EqualFold(duplicate.First, duplicate.Second) {
				t.Errorf("%q: %v", text, err)
			}
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case !cmp.Equal(want, got, cmp.AllowUnexported(document{}), cmp.Exporter(func(reflect.Type) bool { return true })):
			t.Errorf("%q: %+v, want %+v", text, got, want)
		case topDuplicate(text):
			t.Errorf("%q: a field occurs twice", text)
		}
	})
}

// topDuplicate reports whether two keys of the outermost object are the same field.
func topDuplicate(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	seen := make(map[string]bool)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		for _, name := range []string{"size", "mediaType", "layers", "platform", "packages", "later", "any"} {
			if strings.EqualFold(name, key.(string)) {
				if seen[name] {
					return true
				}
				seen[name] = true
			}
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return false
		}
	}
	return false
}

func listing() []byte {
	return []byte(`{"modules":[{"versions":[` + strings.Repeat(`{"version":"1.0.0","submodules":[{"path":"modules/a","providers":[{"name":"aws","version":">= 5.0"}]}],"root":{"dependencies":[]}},`, 20000) + `{}]}]}`)
}

func BenchmarkUnmarshal(b *testing.B) {
	text := listing()
	type versions struct {
		Modules []struct {
			Versions []struct {
				Version string `json:"version"`
			} `json:"versions"`
		} `json:"modules"`
	}
	for name, unmarshal := range map[string]func([]byte, any) error{"checked": jsonkeys.Unmarshal, "plain": json.Unmarshal} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var to versions
				if err := unmarshal(text, &to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
