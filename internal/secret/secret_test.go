package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/secret"
)

func TestTextIsNotPrinted(t *testing.T) {
	t.Parallel()
	token := secret.New("hunter22")
	hidden := struct{ token secret.Text }{token}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, token); got != secret.Redacted {
			t.Errorf("%s prints %q", verb, got)
		}
		if got := fmt.Sprintf(verb, hidden); strings.Contains(got, "hunter") || strings.Contains(got, fmt.Sprintf("%x", "hunter")) {
			t.Errorf("%s of an unexported field prints %q", verb, got)
		}
	}
	if got, err := json.Marshal(token); err != nil || string(got) != `"REDACTED"` {
		t.Errorf("JSON is %s, %v", got, err)
	}
	if token.Reveal() != "hunter22" || (secret.Text{}).Reveal() != "" {
		t.Errorf("Reveal = %q, of the zero Text %q", token.Reveal(), secret.Text{}.Reveal())
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pass a/secret b": "pass REDACTED b",
		"x=a%2Fsecret":    "x=REDACTED",
		"short abc stays": "short abc stays",
	} {
		if got := secret.Remove(text, "a/secret", "abc", ""); got != want {
			t.Errorf("Remove(%q) = %q, want %q", text, got, want)
		}
	}
}
