package hostile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"sync"
)

const tarBlock = 512

type tarHeader struct {
	name, link, prefix string
	flag               byte
	size               string // "" for the body's size
	mode               string // "" for 0644
	sum                string // "" for the right checksum
	magic              string // "" for ustar
}

func tarRaw(h tarHeader, body string) []byte {
	block := make([]byte, tarBlock)
	or := func(text, fallback string) string {
		if text == "" {
			return fallback
		}
		return text
	}
	copy(block, h.name)
	copy(block[100:], or(h.mode, "0000644\x00"))
	copy(block[108:], "0000000\x000000000\x00")
	copy(block[124:136], or(h.size, fmt.Sprintf("%011o\x00", len(body))))
	copy(block[136:], "00000000000\x00")
	block[156] = h.flag
	copy(block[157:257], h.link)
	copy(block[257:], or(h.magic, "ustar\x0000"))
	copy(block[345:500], h.prefix)
	copy(block[148:], or(h.sum, fmt.Sprintf("%06o\x00 ", tarSum(block))))
	block = append(block, body...)
	return append(block, make([]byte, (tarBlock-len(block)%tarBlock)%tarBlock)...)
}

// tarSum returns the checksum of a header. The checksum field itself counts as spaces.
func tarSum(block []byte) int {
	sum := 8 * int(' ')
	for i, b := range block {
		if i < 148 || i >= 156 {
			sum += int(b)
		}
	}
	return sum
}

func tarFile(name, text string) []byte { return tarRaw(tarHeader{name: name, flag: '0'}, text) }
func tarDir(name string) []byte        { return tarRaw(tarHeader{name: name, flag: '5'}, "") }
func tarLink(name, target string) []byte {
	return tarRaw(tarHeader{name: name, link: target, flag: '2'}, "")
}

// tarPAX returns an extended header ('x') or a global one ('g').
func tarPAX(flag byte, records ...string) []byte {
	body := ""
	for _, record := range records {
		size := len(record) + 3
		for size != len(fmt.Sprintf("%d %s\n", size, record)) {
			size = len(fmt.Sprintf("%d %s\n", size, record))
		}
		body += fmt.Sprintf("%d %s\n", size, record)
	}
	return tarRaw(tarHeader{name: "pax", flag: flag}, body)
}

func tarGNU(flag byte, text string) []byte {
	return tarRaw(tarHeader{name: "././@LongLink", flag: flag, magic: "ustar  \x00"}, text+"\x00")
}

func tarOf(entries ...[]byte) []byte {
	return append(bytes.Join(entries, nil), make([]byte, 2*tarBlock)...)
}

// gzipWriters are reused, because a new one takes longer than a small archive.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails for unknown levels only
	return w
}}

func gzipped(plain []byte) []byte {
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	_, _ = w.Write(plain)
	_ = w.Close()
	return out.Bytes()
}

func tarGzip(entries ...[]byte) []byte { return gzipped(tarOf(entries...)) }
