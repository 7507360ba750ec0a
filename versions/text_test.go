package versions_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/versions"
)

func TestText(t *testing.T) {
	t.Parallel()
	type document struct {
		Version   versions.Version
		None      versions.Version
		Want      versions.Constraints
		Any       versions.Constraints
		Provider  versions.ProviderConstraints
		Published map[versions.Version]string
	}
	want, err := versions.ParseConstraints(">=1.0 ,<2, != v1.3.0")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := versions.ParseProviderConstraints("~> 1, != 1.2")
	if err != nil {
		t.Fatal(err)
	}
	v := versions.MustParse("v1.02-rc.1+b")
	text, err := json.Marshal(document{Version: v, Want: want, Provider: provider, Published: map[versions.Version]string{v: "x"}})
	const wanted = `{"Version":"1.2.0-rc.1+b","None":"","Want":"\u003e= 1.0, \u003c 2, != v1.3.0","Any":"","Provider":"~\u003e 1.0, != 1.2.0","Published":{"1.2.0-rc.1+b":"x"}}`
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, string(text)); diff != "" {
		t.Error(diff)
	}
	var got document
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != v || !got.None.IsZero() || got.Want.String() != want.String() || !got.Any.IsZero() || got.Provider.String() != provider.String() || got.Published[v] != "x" {
		t.Errorf("%s is read as %+v", text, got)
	}
	for _, value := range []interface {
		fmt.Stringer
		slog.LogValuer
	}{v, want, provider} {
		if got := value.LogValue(); got.Kind() != slog.KindString || got.String() != value.String() {
			t.Errorf("%T.LogValue() = %v", value, got)
		}
	}
	if err := json.Unmarshal([]byte(`{"Version":"one"}`), &got); err == nil || got.Version != v {
		t.Errorf("an invalid version is read as %q, %v", got.Version, err)
	}
}

// Combined constraints can be longer than those of one module.
func TestCombinedProviderConstraintsText(t *testing.T) {
	t.Parallel()
	var parts []versions.ProviderConstraints
	for i := range 1000 {
		c, err := versions.ParseProviderConstraints(fmt.Sprintf("!= 1.0.%d", i))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, c)
	}
	all := versions.ProviderConstraints{}.And(parts...)
	text, err := all.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var got versions.ProviderConstraints
	if err := got.UnmarshalText(text); err != nil || got.String() != all.String() {
		t.Errorf("%d bytes are not read again: %v", len(text), err)
	}
	if err := got.UnmarshalText([]byte(strings.Repeat("!= 1.0.0, ", 10_000) + "1.0.0")); err == nil {
		t.Error("100,000 bytes are accepted")
	}
}

// TestTextKeepsMeaning checks that constraints allow the same versions after they were written and
// read.
func TestTextKeepsMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`0?[0-2](\.[0-2]){0,2}(-(rc|beta)\.?[12])?(\+[ab])?`)
		part := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "=", "= ", "!=", "> ", ">=", "<", "<= ", "~>", "~> "}).Draw(t, "operator") + version.Draw(t, "version")
		})
		written := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma"))
		v := versions.MustParse(version.Draw(t, "candidate"))

		var again versions.Version
		if text, err := v.MarshalText(); err != nil || again.UnmarshalText(text) != nil || again != v {
			t.Fatalf("%q is read as %q", v, again)
		}
		want, err := versions.ParseConstraints(written)
		if err != nil {
			t.Fatal(err)
		}
		var read versions.Constraints
		if text, err := want.MarshalText(); err != nil || read.UnmarshalText(text) != nil || read.String() != want.String() || read.Allows(v) != want.Allows(v) {
			t.Fatalf("%q is read as %q", want, read)
		}
		provider, err := versions.ParseProviderConstraints(written)
		if err != nil {
			return
		}
		var readProvider versions.ProviderConstraints
		if text, err := provider.MarshalText(); err != nil || readProvider.UnmarshalText(text) != nil || readProvider.String() != provider.String() || readProvider.Allows(v) != provider.Allows(v) {
			t.Fatalf("%q is read as %q", provider, readProvider)
		}
	})
}
