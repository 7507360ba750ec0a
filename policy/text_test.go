package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	pattern, err := policy.ParsePattern("*.Corp.example/a")
	testenv.Must(t, err)
	given := policy.Policy{Allow: []policy.Pattern{pattern, {}}, Versions: policy.VersionsExact}
	text, err := json.Marshal(given)
	testenv.Must(t, err)
	var got policy.Policy
	testenv.Must(t, json.Unmarshal(text, &got))
	if got.Versions != given.Versions || len(got.Allow) != 2 || got.Allow[0].String() != "*.Corp.example/a" || got.Allow[1].String() != "" {
		t.Errorf("%s is read as %+v", text, got)
	}
	if err := got.CheckPackage(addrs.ParseModulePackage("https://x.corp.example/a/b.zip")); err != nil {
		t.Error(err)
	}
	if err := got.CheckPackage(addrs.ParseModulePackage("https://x.corp.example/b.zip")); refusedBy(t, err) != "allow_sources" {
		t.Error("a pattern that was read, or the empty pattern, matches everything")
	}
	if err := got.CheckPackage(addrs.ParseModulePackage("file:///srv/b.zip")); refusedBy(t, err) != "allow_sources" {
		t.Error("the empty pattern matches this machine")
	}
	settings, diags := policy.ParseUserSettings([]byte(`trust_mirrors = ["oci://R.example/*"]`), "cotter.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if text, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	var again policy.UserSettings
	testenv.Must(t, json.Unmarshal(text, &again))
	if diff := cmp.Diff(*settings, again); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"Versions":"none"}`, `{"Versions":1}`, `{"Allow":["https://x"]}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if err := json.Unmarshal([]byte(`{"TrustMirrors":["https://x"]}`), &again); err == nil {
		t.Error("a mirror with another transport is read")
	}
	if _, err := policy.Versions(7).MarshalText(); err == nil {
		t.Error("an unknown value has a text")
	}
}
