package getmodules

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// unzip unpacks a zip archive. It reads both of the descriptions that zip has
// of each entry and refuses what they do not agree on: a program may go by
// either.
func (a *unpacking) unzip() error {
	end, err := a.zipEnd()
	if err != nil {
		return damaged("zip: %w", err)
	}
	if most := a.entryLimit(); end.entries > most {
		return fmt.Errorf("%w: the archive has %d entries, more than %d", ErrTooLarge, end.entries, most)
	}
	entries, err := a.zipDirectory(end)
	if err != nil {
		return damaged("zip: %w", err)
	}
	if err := a.zipLayout(entries, end.offset); err != nil {
		return damaged("zip: %w", err)
	}
	for _, entry := range entries {
		if err := a.unzipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (a *unpacking) unzipEntry(entry *zipEntry) error {
	r := a.zipContent(entry)
	target := ""
	switch entry.mode.Type() {
	case fs.ModeDir:
		if entry.size != 0 {
			return damaged("zip: %q: a directory with content", entry.name)
		}
		// For its checks alone, as not all of an empty content is nothing.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
	case fs.ModeSymlink:
		text, err := io.ReadAll(io.LimitReader(r, maxLinkTarget+1))
		if err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
		target = string(text)
	}
	return a.add(entryName(entry.name, entry.mode.IsDir()), entry.mode, target, r)
}

// zipLayout checks that the entries fill the archive up to its directory
// without gaps or overlaps, and compares each with its local header. It sorts
// them by their place.
func (a *unpacking) zipLayout(entries []*zipEntry, end int64) error {
	slices.SortFunc(entries, func(x, y *zipEntry) int { return cmp.Compare(x.offset, y.offset) })
	place := int64(0)
	for i, entry := range entries {
		next := end
		if i+1 < len(entries) {
			next = entries[i+1].offset
		}
		if entry.offset != place || next <= place {
			return fmt.Errorf("%q: there is a gap or an overlap in front of the entry", entry.name)
		}
		if err := a.zipLocal(entry, next); err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
		place = next
	}
	if place != end {
		return errors.New("there is data in front of the directory")
	}
	return nil
}
