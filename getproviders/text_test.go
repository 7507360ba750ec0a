package getproviders_test

import (
	"encoding/json"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Patterns and templates are text in JSON, and the same values afterwards.
func TestText(t *testing.T) {
	t.Parallel()
	type values struct {
		Pattern  getproviders.Pattern
		Template getproviders.RepositoryTemplate
	}
	for _, test := range []struct{ pattern, template, want string }{
		{"", "", `{"Pattern":"","Template":""}`},
		{"acme/*", "example.com/${namespace}/${type}", `{"Pattern":"registry.opentofu.org/acme/*","Template":"example.com/${namespace}/${type}"}`},
		{"*/*/*", "", `{"Pattern":"*/*/*","Template":""}`},
		{"example.com:8443/acme/net", "", `{"Pattern":"example.com:8443/acme/net","Template":""}`},
	} {
		var given, got values
		var err error
		if test.pattern != "" {
			given.Pattern, err = getproviders.ParsePattern(test.pattern, addrs.DefaultRegistryHost)
		}
		if test.template != "" && err == nil {
			given.Template, err = getproviders.ParseRepositoryTemplate(test.template)
		}
		testenv.Must(t, err)
		text, err := json.Marshal(given)
		if err != nil || string(text) != test.want {
			t.Errorf("%s becomes %s, %v", test.pattern, text, err)
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Pattern != given.Pattern || got.Template.String() != given.Template.String() {
			t.Errorf("%s becomes %+v, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Pattern":"a/b/c/d"}`), new(values)); err == nil {
		t.Error("a text that is not a pattern was accepted")
	}
}
