package inprocess_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/inprocess"
)

func TestPack(t *testing.T) {
	t.Parallel()
	base := "a base of some length"
	copied := delta(uint64(len(base)), 6, "\x90\x06") // the first six bytes
	raw, err := hex.DecodeString(blobID(base))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := fetchPack(t, makePack(t, -1,
		packObject{kind: typeBlob, content: base},
		packObject{kind: typeRefDelta, base: raw, content: copied},
	))
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	want := fmt.Sprintf("%s blob 6\na base\n%s missing\n", blobID("a base"), someID)
	if got := ask(t, objects, blobID("a base"), someID); got != want {
		t.Errorf("answers %q, want %q", got, want)
	}
}

// TestHostilePacks checks that packs are refused if they would cost too much or are
// invalid.
func TestHostilePacks(t *testing.T) {
	t.Parallel()
	small := packObject{kind: typeBlob, content: "small"}
	zeros := packObject{kind: typeBlob, content: strings.Repeat("\x00", 2<<20)}
	huge := func(target uint64) packObject {
		return packObject{kind: typeRefDelta, base: make([]byte, sha1.Size), content: delta(5, target, "\x90\x05")}
	}
	good := makePack(t, -1, small)
	changed := slices.Clone(good)
	changed[len(changed)-1] ^= 1
	tests := []struct {
		name string
		pack []byte
		kind inprocess.Kind
	}{
		{"too many bytes", append([]byte("PACK"), make([]byte, 2<<20)...), inprocess.TooLarge},
		{"too many objects", makePack(t, 2_000_001, small), inprocess.TooLarge},
		{"object that inflates", makePack(t, -1, zeros), inprocess.TooLarge},
		{"object that lies about its size", makePack(t, -1, packObject{kind: typeBlob, size: 10, content: zeros.content}), inprocess.Broken},
		{"object that is shorter than it says", makePack(t, -1, packObject{kind: typeBlob, size: 10, content: "x"}), inprocess.Broken},
		{"object of 2^40 bytes", makePack(t, -1, packObject{kind: typeBlob, size: 1 << 40, content: "x"}), inprocess.TooLarge},
		{"object of 2^63 bytes", makePack(t, -1, packObject{kind: typeBlob, size: 1 << 63, content: "x"}), inprocess.Broken},
		{"delta that makes too much", makePack(t, -1, small, huge(1<<40)), inprocess.TooLarge},
		{"delta that makes 2^63 bytes", makePack(t, -1, small, huge(1<<63)), inprocess.TooLarge},
		{"delta that makes 2^64 bytes", makePack(t, -1, small, huge(1<<64-1)), inprocess.TooLarge},
		{"delta without a base", makePack(t, -1, huge(5)), inprocess.Broken},
		{"delta of a later object", makePack(t, -1, packObject{kind: typeOfsDelta, base: []byte{0x7f}, content: delta(5, 5, "\x90\x05")}, small), inprocess.Broken},
		{"delta without numbers", makePack(t, -1, small, packObject{kind: typeRefDelta, base: make([]byte, sha1.Size), content: "\xff\xff"}), inprocess.Broken},
		{"type 5", makePack(t, -1, packObject{kind: 5, content: "x"}), inprocess.Broken},
		{"fewer objects than it says", makePack(t, 2, small), inprocess.Broken},
		{"more objects than it says", makePack(t, 1, small, small), inprocess.Broken},
		{"wrong checksum", changed, inprocess.Broken},
		{"nothing", nil, inprocess.Broken},
		{"only the beginning", good[:12], inprocess.Broken},
		{"something else", []byte(strings.Repeat("x", 100)), inprocess.Broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			objects, err := fetchPack(t, tt.pack)
			if err == nil {
				t.Fatalf("Fetch succeeds: %q", ask(t, objects, blobID("small")))
			}
			var failed *inprocess.Error
			if errors.As(err, &failed) && failed.Kind != tt.kind || failed == nil && tt.kind != inprocess.Broken {
				t.Errorf("Fetch = %v, want the kind %d", err, tt.kind)
			}
		})
	}
}

// TestSideband uses answers that contain a whole pack and then end in various ways: only
// those that end properly are accepted.
func TestSideband(t *testing.T) {
	t.Parallel()
	pack := string(makePack(t, -1, packObject{kind: typeBlob, content: "x"}))
	refs := line(someID+" HEAD\x00side-band-64k\n") + "0000"
	for rest, ok := range map[string]bool{
		"0000": true, line("\x02done\n") + "0000": true, line("\x01") + "0000": true,
		"": false, "0009": false, line("\x02done\n"): false, "00": false, line("\x03stop\x1b"): false, line("\x04?"): false, line("ERR no"): false,
	} {
		r := &inprocess.Remote{
			Transport: fakeServer{[]byte(refs), []byte(line("NAK\n") + line("\x01"+pack) + rest)}, Dir: t.TempDir(),
			Limits: inprocess.Limits{PackBytes: 1 << 20, ObjectBytes: 1 << 20},
		}
		if _, err := r.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		objects, err := r.Fetch(t.Context(), inprocess.Want{IDs: []string{someID}})
		if ok != (err == nil) || err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("a pack with %q behind it: %v, want success: %v", rest, err, ok)
		}
		if err == nil {
			if err := objects.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPackIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, pack := range [][]byte{makePack(t, -1, packObject{kind: typeBlob, content: "x"}), []byte("PACK")} {
		r := &inprocess.Remote{
			Transport: fakeServer{someRefs(), append([]byte(line("NAK\n")), pack...)}, Dir: dir,
			Limits: inprocess.Limits{PackBytes: 1 << 20, ObjectBytes: 1 << 20},
		}
		if _, err := r.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if objects, err := r.Fetch(t.Context(), inprocess.Want{IDs: []string{someID}}); err == nil {
			if err := objects.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(makePack(f, -1, packObject{kind: typeBlob, content: "x"}, packObject{kind: typeOfsDelta, base: []byte{10}, content: delta(1, 1, "\x90\x01")})[:60])
	f.Add(makePack(f, -1, packObject{kind: typeBlob, content: "x"}))
	f.Add([]byte("PACK"))
	f.Fuzz(func(t *testing.T, pack []byte) {
		if len(pack) > 20 {
			// A checksum can be forged, so it does not protect the parser.
			sum := sha1.Sum(pack[:len(pack)-20])
			pack = append(slices.Clone(pack[:len(pack)-20]), sum[:]...)
		}
		objects, err := fetchPack(t, pack)
		if err != nil {
			return
		}
		_ = ask(t, objects, blobID("x"), someID+"^{commit}", "1111^{commit}")
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
}
