package lockfile

import (
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
)

// content is what the block of a value says: all items that it can have, in the order of its layout. Two
// contents of one type have the same items.
type content []item

// An item is an attribute with a string, the attribute with the hashes, or a nested block.
type item struct {
	name string
	// joined says that no blank line separates the item from the one before it.
	joined bool

	text   string         // "" if the block does not have it
	hashes []hashing.Hash // sorted
	block  content        // nil without a block
}

func (i item) isSet() bool { return i.text != "" || len(i.hashes) > 0 || i.block != nil }

func (i item) equals(other item) bool {
	return i.text == other.text && slices.Equal(i.hashes, other.hashes) && slices.EqualFunc(i.block, other.block, item.equals)
}

// lines returns the item with line ends; width is that of its name, with spaces behind it.
func (i item) lines(indent string, width int) string {
	switch {
	case i.block != nil:
		return indent + i.name + " {\n" + i.block.lines(indent+"  ") + indent + "}\n"
	case i.hashes != nil:
		return indent + i.name + " = " + hashList(i.hashes, indent) + "\n"
	}
	return indent + i.name + strings.Repeat(" ", width-len(i.name)) + " = " + quote(i.text) + "\n"
}

// lines returns the content in the layout of new blocks. The equals signs of strings that are joined are aligned.
func (c content) lines(indent string) string {
	var out strings.Builder
	isFirst := true
	for i, item := range c {
		if !item.isSet() {
			continue
		}
		if !isFirst && !item.joined {
			out.WriteByte('\n')
		}
		isFirst = false
		out.WriteString(item.lines(indent, c.width(i)))
	}
	return out.String()
}

// width returns the length of the longest name among the strings that an item is joined with.
func (c content) width(i int) int {
	first, end := i, i+1
	for first > 0 && c[first].joined {
		first--
	}
	for end < len(c) && c[end].joined {
		end++
	}
	width := 0
	for _, item := range c[first:end] {
		if item.text != "" {
			width = max(width, len(item.name))
		}
	}
	return width
}

func hashList(hashes []hashing.Hash, indent string) string {
	var b strings.Builder
	b.WriteString("[\n")
	for _, h := range hashes {
		b.WriteString(indent + "  " + quote(string(h)) + ",\n")
	}
	b.WriteString(indent + "]")
	return b.String()
}
