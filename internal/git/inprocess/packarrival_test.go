package inprocess_test

import (
	"errors"
	"io"
	"testing"

	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// TestObjectsOnTheWay reads objects of a pack whose rest has not arrived yet.
func TestObjectsOnTheWay(t *testing.T) {
	t.Parallel()
	var b builder
	b.blob("first")
	begun := 12 + b.Len()
	b.blob("second")
	pack := b.pack()
	for _, broken := range []error{nil, errors.New("broken")} {
		stream, server := io.Pipe()
		objects := inprocess.StartPack(stream, t.TempDir(), limits)
		if _, err := server.Write(pack[:begun+1]); err != nil {
			t.Fatal(err)
		}
		if body, err := objects.Read(blobName("first")); string(body) != "first" || err != nil {
			t.Errorf("before the second object has come the first one is %q, %v", body, err)
		}
		second := make(chan string)
		go func() {
			body, _ := objects.Read(blobName("second"))
			second <- string(body)
		}()
		want := "second"
		if broken != nil {
			want = ""
			server.CloseWithError(broken)
		} else if _, err := server.Write(pack[begun+1:]); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if got := <-second; got != want {
			t.Errorf("after the error %v the second object is %q, want %q", broken, got, want)
		}
		if _, err := objects.Wait(); !errors.Is(err, broken) {
			t.Errorf("the pack ends with %v, want %v", err, broken)
		}
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseEarly closes a pack before all of it has arrived.
func TestCloseEarly(t *testing.T) {
	t.Parallel()
	var b builder
	b.blob("first")
	b.blob("second")
	stream, server := io.Pipe()
	objects := inprocess.StartPack(stream, t.TempDir(), limits)
	if _, err := server.Write(b.pack()[:20]); err != nil {
		t.Fatal(err)
	}
	if err := objects.Close(); err != nil {
		t.Error(err)
	}
	if _, err := objects.Wait(); err == nil {
		t.Error("the pack is whole")
	}
	if body, err := objects.Read(blobName("second")); body != nil || err != nil {
		t.Errorf("what never came is %q, %v", body, err)
	}
}
