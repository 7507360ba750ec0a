package evidence_test

import (
	"testing"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestKindText(t *testing.T) {
	t.Parallel()
	for kind := evidence.None; kind <= evidence.Signature; kind++ {
		text, err := kind.MarshalText()
		testenv.Must(t, err)
		var got evidence.Kind
		if err := got.UnmarshalText(text); err != nil || got != kind {
			t.Errorf("%s becomes %v, %v", text, got, err)
		}
	}
	var kind evidence.Kind
	if kind.UnmarshalText([]byte("nobody")) == nil {
		t.Error("an unknown kind was accepted")
	}
}
