package inprocess_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestReadGit compares every object of a pack made by git with the output of git cat-file,
// with various limits on the memory used.
func TestReadGit(t *testing.T) {
	t.Parallel()
	packFile, pack, git := gitPack(t)
	listing := strings.Fields(git("", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	for _, memory := range []int64{1 << 30, 5000, 0} {
		l := limits
		l.MemoryBytes = memory
		objects, err := read(t, pack, l)
		if err != nil {
			t.Fatal(err)
		}
		if size, _ := objects.Wait(); objects.Len() != len(listing) || size != int64(len(pack)) {
			t.Errorf("%d objects, %d bytes, want %d, %d", objects.Len(), size, len(listing), len(pack))
		}
		want := git(strings.Join(listing, "\n")+"\n", "cat-file", "--batch")
		var got strings.Builder
		for _, name := range listing {
			kind, size, ok := objects.Stat(name)
			body, err := objects.Read(name)
			if !ok || err != nil {
				t.Fatalf("object %s: %v, %v", name, ok, err)
			}
			fmt.Fprintf(&got, "%s %s %d\n%s\n", name, kind, size, body)
		}
		if strings.TrimSpace(got.String()) != want {
			t.Errorf("with %d bytes of memory the objects are not git's", memory)
		}
	}
	chains := git("", "verify-pack", "-v", strings.TrimSuffix(packFile, ".pack")+".idx")
	if !strings.Contains(chains, "chain length = 10:") {
		t.Errorf("git made no long chains of deltas:\n%s", chains)
	}
}

func TestReadSmall(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	base := b.Blob("hello world\n")
	b.Blob("")
	// Copy 6 bytes from offset 6, insert "!", copy 5 bytes from offset 0.
	steps := []byte{12, 12, 0x91, 6, 6, 1, '!', 0x90, 5}
	offset := 12 + b.Len()
	b.Add(6, len(steps), gittest.PackDistance(offset-base), steps)
	name, err := hex.DecodeString(blobName("hello world\n"))
	if err != nil {
		t.Fatal(err)
	}
	b.Add(7, len(steps), name, append(bytes.Clone(steps[:6]), '?', 0x90, 5))
	pack := b.Pack()
	want := []string{"hello world\n", "", "world\n!hello", "world\n?hello"}
	for _, stream := range []io.Reader{bytes.NewReader(pack), iotest.OneByteReader(bytes.NewReader(pack)), iotest.DataErrReader(bytes.NewReader(pack))} {
		objects, err := readAll(stream, t.TempDir(), limits)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			body, err := objects.Read(blobName(text))
			if err != nil || string(body) != text {
				t.Errorf("Read(%q) = %q, %v", text, body, err)
			}
			if kind, size, ok := objects.Stat(blobName(text)); !ok || kind != git.KindBlob || size != int64(len(text)) {
				t.Errorf("Stat(%q) = %v, %d, %v", text, kind, size, ok)
			}
		}
		for _, name := range []string{"", "x", strings.Repeat("0", 40), strings.Repeat("x", 40), strings.ToUpper(blobName("")) + "0"} {
			if body, err := objects.Read(name); body != nil || err != nil {
				t.Errorf("Read(%q) = %q, %v, want nothing", name, body, err)
			}
		}
	}
	empty := gittest.Pack{}
	if objects, err := read(t, empty.Pack(), limits); err != nil || objects.Len() != 0 {
		t.Errorf("Read of an empty pack = %v, %v", objects, err)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	blob := func(b *gittest.Pack) int { return b.Blob("0123456789") }
	delta := func(size int, steps ...byte) func(*gittest.Pack) {
		return func(b *gittest.Pack) { base := blob(b); b.Add(6, size, gittest.PackDistance(12+b.Len()-base), steps) }
	}
	tests := map[string]struct {
		build func(*gittest.Pack)
		want  error
	}{
		"size too small":     {func(b *gittest.Pack) { b.Add(3, 9, nil, []byte("0123456789")) }, inprocess.ErrMalformed},
		"size too large":     {func(b *gittest.Pack) { b.Add(3, 11, nil, []byte("0123456789")) }, inprocess.ErrMalformed},
		"kind 0":             {func(b *gittest.Pack) { b.Add(0, 1, nil, []byte("x")) }, inprocess.ErrMalformed},
		"kind 5":             {func(b *gittest.Pack) { b.Add(5, 1, nil, []byte("x")) }, inprocess.ErrMalformed},
		"size of 70 bits":    {func(b *gittest.Pack) { b.WriteString(strings.Repeat("\xbf", 11)); b.Count++ }, inprocess.ErrMalformed},
		"size of 2^58":       {func(b *gittest.Pack) { b.WriteString(strings.Repeat("\xbf", 8) + "\x01"); b.Count++ }, inprocess.ErrTooLarge},
		"large object":       {func(b *gittest.Pack) { b.Blob(strings.Repeat("x", 2<<20)) }, inprocess.ErrTooLarge},
		"more than it says":  {func(b *gittest.Pack) { blob(b); blob(b); b.Count-- }, inprocess.ErrMalformed},
		"less than it says":  {func(b *gittest.Pack) { blob(b); b.Count++ }, inprocess.ErrMalformed},
		"too many":           {func(b *gittest.Pack) { blob(b); b.Count = 10_001 }, inprocess.ErrTooLarge},
		"2^32 objects":       {func(b *gittest.Pack) { b.Count = 1<<32 - 1 }, inprocess.ErrTooLarge},
		"base at itself":     {func(b *gittest.Pack) { blob(b); b.Add(6, 3, gittest.PackDistance(0), []byte{10, 1, 0x90}) }, inprocess.ErrBase},
		"base in an object":  {func(b *gittest.Pack) { blob(b); b.Add(6, 3, gittest.PackDistance(3), []byte{10, 1, 0x90}) }, inprocess.ErrBase},
		"base before all":    {func(b *gittest.Pack) { blob(b); b.Add(6, 3, gittest.PackDistance(100), []byte{10, 1, 0x90}) }, inprocess.ErrBase},
		"base elsewhere":     {func(b *gittest.Pack) { b.Add(7, 3, make([]byte, 20), []byte{10, 1, 0x90}) }, inprocess.ErrBase},
		"distance of 2^70":   {func(b *gittest.Pack) { b.Add(6, 3, bytes.Repeat([]byte{0xff}, 10), nil) }, inprocess.ErrMalformed},
		"other base size":    {delta(4, 9, 5, 0x90, 5), inprocess.ErrMalformed},
		"makes more":         {delta(4, 10, 4, 0x90, 5), inprocess.ErrMalformed},
		"makes less":         {delta(4, 10, 6, 0x90, 5), inprocess.ErrMalformed},
		"makes nothing":      {delta(2, 10, 6), inprocess.ErrMalformed},
		"copies from beyond": {delta(5, 10, 5, 0x91, 6, 5), inprocess.ErrMalformed},
		"copies 65536":       {delta(3, 10, 5, 0x80), inprocess.ErrMalformed},
		"step 0":             {delta(3, 10, 5, 0), inprocess.ErrMalformed},
		"inserts too much":   {delta(4, 10, 5, 5, 'x'), inprocess.ErrMalformed},
		"copy cut off":       {delta(3, 10, 5, 0xff), inprocess.ErrMalformed},
		"no sizes":           {delta(0), inprocess.ErrMalformed},
		"result of 2^62":     {delta(10, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f), inprocess.ErrMalformed},
		"result of 2^48":     {delta(8, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f), inprocess.ErrTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b gittest.Pack
			tt.build(&b)
			if _, err := read(t, b.Pack(), limits); !errors.Is(err, tt.want) {
				t.Errorf("Read = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestReadTotal(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	base := b.Blob(strings.Repeat("x", 1<<16))
	for range 20 { // each copies the whole base
		b.Add(6, 7, gittest.PackDistance(12+b.Len()-base), []byte{0x80, 0x80, 4, 0x80, 0x80, 4, 0x80})
	}
	l := limits
	l.TotalBytes = 20 << 16
	if _, err := read(t, b.Pack(), l); !errors.Is(err, inprocess.ErrTooLarge) {
		t.Errorf("Read of 21 objects with %d bytes in all = %v, want ErrTooLarge", l.TotalBytes, err)
	}
	l.TotalBytes = 21 << 16
	if _, err := read(t, b.Pack(), l); err != nil {
		t.Errorf("Read of 21 objects with %d bytes in all = %v", l.TotalBytes, err)
	}
}

// TestReadDeltaBomb reads a delta of a kilobyte that says 10 bytes and would make 256 MiB. It is not parallel,
// because it measures what the process allocates.
func TestReadDeltaBomb(t *testing.T) {
	var b gittest.Pack
	base := b.Blob(strings.Repeat("x", 1<<19))
	steps := append([]byte{0x80, 0x80, 0x20, 10}, bytes.Repeat([]byte{0xc0, 8}, 512)...) // each copies the whole base
	b.Delta(base, steps)
	allocated := testenv.Allocated(func() {
		if _, err := read(t, b.Pack(), limits); !errors.Is(err, inprocess.ErrMalformed) {
			t.Errorf("Read = %v, want ErrMalformed", err)
		}
	})
	if allocated > 64<<20 {
		t.Errorf("Read allocates %d MiB", allocated>>20)
	}
}

func TestReadStreamError(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	b.Blob(strings.Repeat("x", 1000))
	broken := errors.New("broken")
	for n := range b.Pack() {
		stream := io.MultiReader(bytes.NewReader(b.Pack()[:n]), iotest.ErrReader(broken))
		if _, err := readAll(stream, t.TempDir(), limits); !errors.Is(err, broken) {
			t.Fatalf("Read of a stream that breaks after %d bytes = %v, want its error", n, err)
		}
	}
}

func TestReadNoRoom(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	b.Blob("x")
	l := limits
	l.MemoryBytes = 0
	if _, err := readAll(bytes.NewReader(b.Pack()), "/does/not/exist", l); err == nil {
		t.Error("Read without a directory for its file = nil error")
	}
}

// TestObjectsOnTheWay reads objects of a pack whose rest has not arrived yet.
func TestObjectsOnTheWay(t *testing.T) {
	t.Parallel()
	var b gittest.Pack
	b.Blob("first")
	begun := 12 + b.Len()
	b.Blob("second")
	pack := b.Pack()
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
	var b gittest.Pack
	b.Blob("first")
	b.Blob("second")
	stream, server := io.Pipe()
	objects := inprocess.StartPack(stream, t.TempDir(), limits)
	if _, err := server.Write(b.Pack()[:20]); err != nil {
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

// TestReadLarge reads objects, deltas and bases that go through files.
func TestReadLarge(t *testing.T) {
	t.Parallel()
	l := limits
	l.ObjectBytes, l.TotalBytes = 128<<20, 512<<20
	noise := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(i*i>>8) ^ byte(i)
		}
		return string(text)
	}
	varint := func(n int) (out []byte) {
		for ; n >= 0x80; n >>= 7 {
			out = append(out, byte(n)|0x80)
		}
		return append(out, byte(n))
	}
	for _, size := range []int{1 << 19, 1<<19 + 1, 3 << 20, 65 << 20} { // the last is larger than the memory for bases
		text := noise(size)
		var b gittest.Pack
		base := b.Blob(text)
		inserted := bytes.Clone(append(varint(size), varint(127*10_000+70_000)...))
		for range 10_000 { // the delta is large, too
			inserted = append(append(inserted, 127), text[:127]...)
		}
		inserted = append(inserted, 0xf1, 5, 0x70, 0x11, 0x01) // copy 70000 bytes from offset 5
		b.Delta(base, inserted)
		short := append(append(varint(size), varint(6)...), 0x91, 1, 6)
		b.Delta(base, short)
		objects, err := read(t, b.Pack(), l)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{text, strings.Repeat(text[:127], 10_000) + text[5:70_005], text[1:7]} {
			content := objects.Open(blobName(want))
			if content == nil {
				t.Fatalf("%d bytes: object %d is missing", size, i)
			}
			if got, err := io.ReadAll(content); err != nil || string(got) != want {
				t.Errorf("%d bytes: object %d is another one, %v", size, i, err)
			}
		}
	}
}
