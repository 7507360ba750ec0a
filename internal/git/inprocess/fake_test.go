package inprocess_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// fakeServer is a transport with one list of refs and one answer.
type fakeServer struct{ refs, answer []byte }

func (f fakeServer) Refs(_ context.Context, read func(io.Reader) error) error {
	return read(bytes.NewReader(f.refs))
}

func (f fakeServer) Ask(_ context.Context, _ []byte, read func(io.Reader) error) error {
	return read(bytes.NewReader(f.answer))
}

func (f fakeServer) Close() error { return nil }

// line returns a line of git's protocol.
func line(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

const someID = "1111111111111111111111111111111111111111"

// someRefs returns a list with one branch, from a server without special capabilities.
func someRefs() []byte {
	return []byte(line(someID+" HEAD\x00ofs-delta agent=x") + line(someID+" refs/heads/main\n") + "0000")
}

// fetchPack fetches pack from a server that sends it as its answer, with limits of 1 MiB.
func fetchPack(t testing.TB, pack []byte) (*inprocess.Objects, error) {
	t.Helper()
	r := &inprocess.Remote{
		Transport: fakeServer{someRefs(), append([]byte(line("NAK\n")), pack...)},
		Dir:       t.TempDir(),
		Limits:    inprocess.Limits{PackBytes: 1 << 20, ObjectBytes: 1 << 20},
	}
	if _, err := r.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Fetch(t.Context(), inprocess.Want{IDs: []string{someID}})
}

// Object types in a pack, as in gitformat-pack(5).
const (
	typeBlob     = 3
	typeOfsDelta = 6
	typeRefDelta = 7
)

// packObject is an object of a handmade pack.
type packObject struct {
	kind    byte
	size    uint64 // the declared size; 0 means the correct one
	base    []byte // the reference of a delta to its base
	content string
}

// makePack returns a pack that declares count objects; a count of -1 means the correct
// number.
func makePack(t testing.TB, count int, objects ...packObject) []byte {
	t.Helper()
	if count < 0 {
		count = len(objects)
	}
	var pack bytes.Buffer
	pack.WriteString("PACK")
	pack.Write(binary.BigEndian.AppendUint32(nil, 2))
	pack.Write(binary.BigEndian.AppendUint32(nil, uint32(count)))
	for _, o := range objects {
		size := o.size
		if size == 0 {
			size = uint64(len(o.content))
		}
		first := o.kind<<4 | byte(size&0xf)
		for size >>= 4; size > 0; size >>= 7 {
			pack.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		pack.WriteByte(first)
		pack.Write(o.base)
		z := zlib.NewWriter(&pack)
		if _, err := io.WriteString(z, o.content); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha1.Sum(pack.Bytes())
	return append(pack.Bytes(), sum[:]...)
}

// delta returns a delta that declares the sizes of its base and of its result.
func delta(base, target uint64, commands string) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, base), target)) + commands
}

// blobID returns the object name of a blob.
func blobID(content string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
}

// ask reads objects by name. For a name followed by "^{commit}", which may be abbreviated,
// it reads the commit that the object points to. The result has the format of git cat-file
// --batch.
func ask(t testing.TB, objects *inprocess.Objects, names ...string) string {
	t.Helper()
	var out strings.Builder
	for _, name := range names {
		kind, obj := find(t, objects, name)
		if obj == nil {
			fmt.Fprintf(&out, "%s missing\n", name)
			continue
		}
		content, err := obj.Bytes(1 << 20)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&out, "%s %s %d\n%s\n", obj.ID, kind, obj.Size, content)
	}
	return out.String()
}

// find starts to read an object. It returns nil if the object does not exist.
func find(t testing.TB, objects *inprocess.Objects, name string) (git.Kind, *git.Object) {
	t.Helper()
	if id, ok := strings.CutSuffix(name, "^{commit}"); ok {
		if !git.IsObjectID(id) {
			var err error
			if id, err = objects.Expand(id); err != nil {
				t.Error(err)
			}
		}
		if obj, err := objects.Commit(id); err == nil {
			return git.KindCommit, obj
		}
		return "", nil
	}
	for _, kind := range []git.Kind{git.KindCommit, git.KindTree, git.KindBlob, git.KindTag} {
		for obj, err := range objects.Read(kind, []string{name}) {
			if err == nil {
				return kind, obj
			}
		}
	}
	return "", nil
}
