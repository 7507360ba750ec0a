package hashing

// Kind is the kind of an entry. Its value is the byte that t1 and the text form
// have for it.
type Kind byte

// The kinds of entries. Directories that are not empty have no entries.
const (
	File     Kind = 'f'
	ExecFile Kind = 'x' // a file that its owner may execute
	Link     Kind = 'l'
	EmptyDir Kind = 'd'
)

// String returns the kind in words, such as "executable file".
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case ExecFile:
		return "executable file"
	case Link:
		return "link"
	case EmptyDir:
		return "empty directory"
	}
	return "unknown kind"
}

// Entry is one file, link or empty directory of a tree.
type Entry struct {
	// Path is relative to the tree, with forward slashes.
	Path string
	Kind Kind
	// Size is a file's size in bytes and 0 for all else.
	Size int64
	// Sum is the SHA-256 of a file's content. That of a link is the Sum of the
	// file that it leads to, which h1 needs; it is zero where the link leads to
	// a directory. That of an empty directory is zero.
	Sum [32]byte
	// Target is where a link leads, as the link has it; empty for all else.
	Target string
}

func (e Entry) isFile() bool { return e.Kind == File || e.Kind == ExecFile }

// same reports whether e and other are equal in themselves. A link stays the
// same when the file changes that it leads to.
func (e Entry) same(other Entry) bool {
	if e.Kind == Link {
		e.Sum, other.Sum = [32]byte{}, [32]byte{}
	}
	return e == other
}
