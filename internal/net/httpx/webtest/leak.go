package webtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Canary is a secret that must not appear where it does not belong.
const Canary = "canary-4f1d9c"

func Carried(r *http.Request) bool {
	return strings.Contains(fmt.Sprint(r.Method, r.URL, r.Host, r.Header, r.Trailer), Canary)
}

// CheckSecrecy fails if a request to any other origin has the canary.
func (w *Web) CheckSecrecy(origin string) {
	w.t.Helper()
	for _, r := range w.Requests() {
		if got := r.URL.Scheme + "://" + r.URL.Host; got != origin && Carried(r) {
			w.t.Errorf("the secret for %s went to %s: %v", origin, r.URL, r.Header)
		}
	}
}

// CheckText fails if a text for users has the canary, or a character that must not be printed.
func CheckText(t testing.TB, text string) {
	t.Helper()
	if strings.Contains(text, Canary) {
		t.Errorf("the text %q has the secret in it", text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		t.Errorf("the text %q has control characters in it", text)
	}
}
