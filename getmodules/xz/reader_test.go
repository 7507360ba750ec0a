package xz_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	library "github.com/ulikunitz/xz"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/internal/testenv"
)

// read returns the content of an xz stream and the bytes that follow it.
func read(t testing.TB, file []byte) (content, rest []byte, err error) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(file))
	r, err := xz.NewReader(in)
	if err != nil {
		return nil, nil, err
	}
	if content, err = io.ReadAll(r); err != nil {
		return nil, nil, err
	}
	if rest, err = io.ReadAll(in); err != nil {
		t.Fatal(err)
	}
	return content, rest, nil
}

// sample returns content of which only a part compresses well.
func sample(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(random.IntN(1 << (i / 1000 % 9)))
	}
	return content
}

func TestReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 2, 3, 4, 5, 1000, 50_000} {
		want := sample(size)
		got, rest, err := read(t, append(packed(t, want), "rest"...))
		if err != nil || !bytes.Equal(got, want) || string(rest) != "rest" {
			t.Errorf("%d bytes: got %d bytes, rest %q, error %v", size, len(got), rest, err)
		}
	}
}

// TestReaderOfTool reads streams written by xz.
func TestReaderOfTool(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "xz")
	want := sample(100_000)
	name := filepath.Join(t.TempDir(), "content")
	testenv.Must(t, os.WriteFile(name, want, 0o600))
	for _, options := range []string{
		"-0", "-6", "-9e", "--check=none", "--check=crc32", "--check=sha256",
		"-T2", "-T2 --block-size=64KiB", "-T2 -0 --block-size=16KiB", "--lzma2=dict=1MiB,lc=4,lp=0,pb=0",
	} {
		file, err := exec.CommandContext(t.Context(), "xz", append(strings.Fields(options), "--stdout", "--keep", name)...).Output()
		if err != nil {
			t.Fatalf("xz %s: %v", options, err)
		}
		got, rest, err := read(t, file)
		if err != nil || !bytes.Equal(got, want) || len(rest) != 0 {
			t.Errorf("xz %s: got %d bytes, rest %q, error %v", options, len(got), rest, err)
		}
	}
	for _, options := range []string{"--x86 --lzma2", "--delta --lzma2"} {
		file, err := exec.CommandContext(t.Context(), "xz", append(strings.Fields(options), "--stdout", "--keep", name)...).Output()
		if err != nil {
			t.Fatalf("xz %s: %v", options, err)
		}
		if _, _, err := read(t, file); !errors.Is(err, getmodules.ErrUnsupportedArchive) {
			t.Errorf("xz %s: error is %v, want ErrUnsupportedArchive", options, err)
		}
	}
}

// TestTruncated cuts streams off at every byte.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, file := range [][]byte{
		packed(t, sample(500)),
		stream{blocks: []rawBlock{{content: "one"}, {content: "two"}}}.bytes(),
	} {
		if _, _, err := read(t, file); err != nil {
			t.Fatal(err)
		}
		for size := range file {
			if _, _, err := read(t, file[:size]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d: error is %v, want io.ErrUnexpectedEOF", size, err)
			}
		}
	}
}

// TestDamaged changes each byte of a stream.
func TestDamaged(t *testing.T) {
	t.Parallel()
	file := stream{blocks: []rawBlock{{content: "one", sizes: []uint64{7, 3}}, {content: "three"}}}.bytes()
	for i := range file {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			damaged := slices.Clone(file)
			damaged[i] ^= flip
			if got, _, err := read(t, damaged); err == nil {
				t.Errorf("byte %d changed by %#x: got %q", i, flip, got)
			}
		}
	}
}

func TestHandMade(t *testing.T) {
	t.Parallel()
	const four = 4 << 10
	many := make([]rawBlock, 0, 300)
	for range cap(many) {
		many = append(many, rawBlock{content: "x", dictionary: 26}) // a dictionary of 32 MiB each
	}
	fitting := make([]rawBlock, 0, 300)
	for range cap(fitting) {
		fitting = append(fitting, rawBlock{content: "x", dictionary: 26, sizes: []uint64{5, 1}})
	}
	tests := map[string]struct {
		stream stream
		want   error // nil means success
		text   string
	}{
		"good":                    {stream{blocks: []rawBlock{{content: "x"}}}, nil, ""},
		"no blocks":               {stream{}, nil, ""},
		"empty block":             {stream{blocks: []rawBlock{{}}}, nil, ""},
		"sizes":                   {stream{blocks: []rawBlock{{content: "xyz", sizes: []uint64{7, 3}}}}, nil, ""},
		"dictionary of 64 MiB":    {stream{blocks: []rawBlock{{content: "x", dictionary: 28}}}, nil, ""},
		"many blocks that say so": {stream{blocks: fitting}, nil, ""},
		"dictionary of 96 MiB":    {stream{blocks: []rawBlock{{content: "x", dictionary: 29}}}, getmodules.ErrTooLarge, "dictionary has"},
		"dictionary of 4 GiB":     {stream{blocks: []rawBlock{{content: "x", dictionary: 40}}}, getmodules.ErrTooLarge, "dictionary has"},
		"small block, large dictionary": {stream{blocks: []rawBlock{{content: "x", dictionary: 40, sizes: []uint64{5, 1}}}},
			getmodules.ErrTooLarge, "dictionary has"},
		"second dictionary":      {stream{blocks: []rawBlock{{content: "x"}, {content: "x", dictionary: 40}}}, getmodules.ErrTooLarge, "dictionary has"},
		"many dictionaries":      {stream{blocks: many}, getmodules.ErrTooLarge, "dictionaries have"},
		"code of no dictionary":  {stream{blocks: []rawBlock{{content: "x", dictionary: 41}}}, errAny, "header"},
		"another filter":         {stream{blocks: []rawBlock{{content: "x", filter: 4}}}, getmodules.ErrUnsupportedArchive, "filters"},
		"packed size":            {stream{blocks: []rawBlock{{content: "x", sizes: []uint64{6, 1}}}}, errAny, "size"},
		"unpacked size":          {stream{blocks: []rawBlock{{content: "x", sizes: []uint64{5, 2}}}}, errAny, "size"},
		"smaller unpacked size":  {stream{blocks: []rawBlock{{content: strings.Repeat("x", 2*four), sizes: []uint64{2*four + 4, 1}}}}, errAny, "size"},
		"checksum of a block":    {stream{blocks: []rawBlock{{content: "x", sum: []byte("none")}}}, errAny, "checksum"},
		"index with one less":    {stream{blocks: []rawBlock{{content: "x"}}, index: []uint64{}}, errAny, "index"},
		"index with one more":    {stream{blocks: nil, index: []uint64{21, 1}}, errAny, "index"},
		"index of another block": {stream{blocks: []rawBlock{{content: "x"}}, index: []uint64{21, 2}}, errAny, "index"},
		"index of a huge number": {stream{blocks: []rawBlock{{content: "x"}}, index: []uint64{1<<64 - 1, 1}}, errAny, "number"},
		"flags of the footer":    {stream{blocks: []rawBlock{{content: "x"}}, flags: []byte{0, 4}}, errAny, "footer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(t, test.stream.bytes())
			switch {
			case test.want == nil && err != nil:
				t.Errorf("error is %v, want none", err)
			case test.want == nil:
			case err == nil, !errors.Is(test.want, errAny) && !errors.Is(err, test.want), !strings.Contains(err.Error(), test.text):
				t.Errorf("error is %v, want one that says %q", err, test.text)
			}
		})
	}
}

var errAny = errors.New("any")

// FuzzReader checks that the library reads the same content from every stream that is
// accepted.
func FuzzReader(f *testing.F) {
	f.Add(packed(f, sample(300)))
	f.Add(stream{blocks: []rawBlock{{content: "one", sizes: []uint64{7, 3}}, {content: "three"}}}.bytes())
	f.Add(stream{blocks: []rawBlock{{content: "x", dictionary: 40}}}.bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := xz.NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		got, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if err != nil || len(got) == 1<<20 {
			return
		}
		other, err := library.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("the library refuses what was accepted: %v", err)
		}
		want := make([]byte, len(got))
		if _, err := io.ReadFull(other, want); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the content differs from the library's, or it fails: %v", err)
		}
	})
}

// packed returns content as an xz stream written by the library.
func packed(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := library.NewWriter(&out)
	testenv.Must(t, err)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, w.Close())
	return out.Bytes()
}

// stream is a handmade xz stream, which may be invalid. Its content is stored without
// compression, and its checksums are CRC32.
type stream struct {
	blocks []rawBlock
	// index, if not nil, replaces the sizes in the index, two for each block.
	index []uint64
	// flags, if not nil, replaces the flags of the footer.
	flags []byte
}

type rawBlock struct {
	content string
	// dictionary is the code of the dictionary size: 0 means 4 KiB, 28 means 64 MiB, and
	// 40 means 4 GiB.
	dictionary byte
	// filter is the id of the filter; 0 means LZMA2.
	filter byte
	// sizes are the optional sizes in the header: nil, or the packed and the unpacked
	// size.
	sizes []uint64
	// sum, if not nil, replaces the checksum.
	sum []byte
}

func (s stream) bytes() []byte {
	flags := []byte{0, 1}
	out := append([]byte("\xfd7zXZ\x00"), flags...)
	out = append(out, checksum(flags)...)
	index := s.index
	for _, b := range s.blocks {
		raw, unpadded := b.bytes()
		out = append(out, raw...)
		if s.index == nil {
			index = append(index, uint64(unpadded), uint64(len(b.content)))
		}
	}
	records := binary.AppendUvarint([]byte{0}, uint64(len(index)/2))
	for _, n := range index {
		records = binary.AppendUvarint(records, n)
	}
	records = pad(records)
	records = append(records, checksum(records)...)
	if s.flags != nil {
		flags = s.flags
	}
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(records)/4-1)), flags...)
	out = append(append(out, records...), checksum(footer)...)
	return append(append(out, footer...), "YZ"...)
}

// bytes returns the block and its size without padding.
func (b rawBlock) bytes() (raw []byte, unpadded int) {
	header := []byte{0, 0}
	if b.sizes != nil {
		header[1] = 0xc0
	}
	for _, n := range b.sizes {
		header = binary.AppendUvarint(header, n)
	}
	filter := byte(0x21)
	if b.filter != 0 {
		filter = b.filter
	}
	header = pad(append(header, filter, 1, b.dictionary))
	header[0] = byte(len(header) / 4)
	header = append(header, checksum(header)...)
	var data []byte
	if b.content != "" {
		data = append(binary.BigEndian.AppendUint16([]byte{1}, uint16(len(b.content)-1)), b.content...)
	}
	data = append(data, 0)
	sum := b.sum
	if sum == nil {
		sum = checksum([]byte(b.content))
	}
	return append(append(header, pad(data)...), sum...), len(header) + len(data) + len(sum)
}

func pad(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }

func checksum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}
