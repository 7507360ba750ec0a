package lockfile_test

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

type largeLock struct {
	name string // "KIND: ...", as in [testenv.Kind]
	src  func() []byte
	want string // in the error
}

var largeLocks = []largeLock{
	// An installation has at most 20,000 modules.
	{"modules: valid", func() []byte { return numbered(20_000, numberedModule) }, ""},
	{"modules: an error", func() []byte { return append(numbered(20_000, numberedModule), "module \"x\" {"...) }, "Unclosed configuration block"},
	{"modules: empty", func() []byte { return numbered(200_000, "module \"a%d\" {\n}\n") }, "Invalid source address"},
	{"providers: invalid", func() []byte { return numbered(200_000, "provider \"a%d\" {\n}\n") }, "Too many errors"},
	{"providers: invalid, between modules", func() []byte { return numbered(90_000, "provider \"a%[1]d\" {\n}\nmodule \"a/%[1]d\" {\n}\n") }, "Too many errors"},
	{"expressions: sum", func() []byte { return []byte("x = 1" + strings.Repeat("+1", 15_000_000) + "\n") }, "about 45000006 tokens"},
	{"expressions: sums", func() []byte { return numbered(1_000_000, "x = %d\n") }, "tokens"},
	{"expressions: lists", func() []byte { return numbered(200, "module \"a/%d\" {\n  x = ["+strings.Repeat("0,", 4_500)+"]\n}\n") }, ""},
	{"comment", func() []byte {
		return []byte("# " + strings.Repeat("a ", 290_000) + strings.Repeat(" ", 8_000_000) + "\n")
	}, ""},
}

var numberedModule = strings.Replace(testBlock, `"a"`, `"app.module-%06d"`, 1) + "\n"

func numbered(n int, format string) []byte {
	var src []byte
	for i := range n {
		src = fmt.Appendf(src, format, i)
	}
	return src
}

// maxMemory is the maximum of the memory that a process may get from the system, in addition to that
// for the lock itself.
const maxMemory = 200 << 20

func TestMemory(t *testing.T) {
	t.Parallel()
	for _, lock := range testenv.Sample(largeLocks, func(l largeLock) string { return testenv.Kind(l.name) }) {
		t.Run(lock.name, func(t *testing.T) {
			t.Parallel()
			out, err := testenv.OwnProcess(t, func() string { return fmt.Sprintln(memoryFor(lock.src())) })
			var taken int64
			if _, scanErr := fmt.Sscan(out, &taken); err != nil || scanErr != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
			if taken > maxMemory {
				t.Errorf("parsing took %d MiB", taken>>20)
			}
			t.Logf("%d MiB", taken>>20)
			if found := strings.Contains(out, lock.want); !found || lock.want == "" && !strings.Contains(out, "<nil>") {
				t.Errorf("want %q in %.1000s", lock.want, out)
			}
		})
	}
}

// memoryFor parses a lock, and returns the memory in bytes that the process has taken for it,
// and the diagnostics.
func memoryFor(src []byte) (taken int64, diags error) {
	debug.FreeOSMemory()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	before := heap[2].Value.Uint64() - heap[1].Value.Uint64()
	_, found := lockfile.Parse(src, "x")
	metrics.Read(heap)
	return int64(heap[2].Value.Uint64()-heap[1].Value.Uint64()) - int64(before), found
}
