package gitwire

import (
	"bytes"
	"io"

	"github.com/cotterpin/cotter/internal/git"
)

// MaxRedirects exports maxRedirects.
const MaxRedirects = maxRedirects

// ReadRefs exports readRefs.
func ReadRefs(answer []byte, limit int) (git.Refs, error) {
	return readRefs(newPackets(bytes.NewReader(answer), func() {}), limit)
}

// ReadPack returns the pack contained in the answer to a fetch.
func ReadPack(answer []byte, limit int64) ([]byte, error) {
	p := newPackets(bytes.NewReader(answer), func() {})
	if err := p.beginPack(16); err != nil {
		return nil, err
	}
	pack, err := io.ReadAll(&packStream{packets: p, limit: limit, left: limit})
	if err != nil {
		return nil, err
	}
	return pack, p.end()
}

// ReadFeatures exports readFeatures.
func ReadFeatures(answer []byte, command string) ([]string, error) {
	return readFeatures(newPackets(bytes.NewReader(answer), func() {}), command)
}
