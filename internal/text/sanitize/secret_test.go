package sanitize_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	token := sanitize.NewSecret("hunter22")
	hidden := struct{ token sanitize.Secret }{token}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, token); got != sanitize.Redacted {
			t.Errorf("%s prints %q", verb, got)
		}
		if got := fmt.Sprintf(verb, hidden); strings.Contains(got, "hunter") || strings.Contains(got, fmt.Sprintf("%x", "hunter")) {
			t.Errorf("%s of an unexported field prints %q", verb, got)
		}
	}
	if got := addrs.Redact("https://example.com/?token=hunter22"); !strings.HasSuffix(got, "="+sanitize.Redacted) {
		t.Errorf("package addrs writes %q", got)
	}
	if got, err := json.Marshal(token); err != nil || string(got) != `"REDACTED"` {
		t.Errorf("JSON is %s, %v", got, err)
	}
	if token.Reveal() != "hunter22" || (sanitize.Secret{}).Reveal() != "" {
		t.Errorf("Reveal = %q, of the zero Secret %q", token.Reveal(), sanitize.Secret{}.Reveal())
	}
}
