package pathsafe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// The last read of a file is the one that reaches its size with room to spare. Nothing is lost of a file that has grown.
func TestSizedReader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		content string
		size    int64
		buffer  int
		want    string // what each read returns
		name    string
	}{
		{"abc", 3, 4, `"abc" EOF`, "one read"},
		{"abc", 3, 3, `"abc" nil, "" EOF`, "a full buffer does not tell"},
		{"abc", 3, 2, `"ab" nil, "c" EOF`, "two reads"},
		{"", 0, 4, `"" EOF`, "empty"},
		{"abcd", 3, 2, `"ab" nil, "cd" nil, "" EOF`, "grown"},
		{"ab", 3, 4, `"ab" nil, "" EOF`, "truncated"},
	} {
		r := &pathsafe.SizedReader{File: strings.NewReader(test.content), Left: test.size}
		var reads []string
		for buffer := make([]byte, test.buffer); ; {
			n, err := r.Read(buffer)
			if err != nil {
				reads = append(reads, fmt.Sprintf("%q %v", buffer[:n], err))
				break
			}
			reads = append(reads, fmt.Sprintf("%q nil", buffer[:n]))
		}
		if got := strings.Join(reads, ", "); got != test.want {
			t.Errorf("%s: %q of the size %d, %d bytes at once: %s, want %s", test.name, test.content, test.size, test.buffer, got, test.want)
		}
	}
}
