package project

import (
	"encoding/binary"
	"errors"
	"os"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// linkDirectory makes a junction, as stock tools do: unlike symbolic links, any user may make one. Its
// format is REPARSE_DATA_BUFFER of Microsoft's MS-FSCC 2.1.2.5.
func linkDirectory(target string, _ *os.Root, name string) error {
	substitute, printed := utf16.Encode([]rune(`\??\`+target)), utf16.Encode([]rune(target))
	size := func(text []uint16) uint16 { return uint16(2 * len(text)) } //nolint:gosec // paths have at most 32,767 characters
	header := []any{
		uint32(windows.IO_REPARSE_TAG_MOUNT_POINT), 8 + size(substitute) + 2 + size(printed) + 2, uint16(0), // the tag, and the length of what follows
		uint16(0), size(substitute), size(substitute) + 2, size(printed), // the offsets and lengths of the names
	}
	var buffer []byte
	var err error
	for _, field := range append(header, substitute, uint16(0), printed, uint16(0)) {
		if buffer, err = binary.Append(buffer, binary.LittleEndian, field); err != nil {
			return err
		}
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		return err
	}
	if err := setReparsePoint(name, buffer); err != nil {
		return errors.Join(&os.LinkError{Op: "link", Old: target, New: name, Err: err}, os.Remove(name))
	}
	return nil
}

func setReparsePoint(name string, buffer []byte) error {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	dir, err := windows.CreateFile(text, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(dir)
	var returned uint32
	return windows.DeviceIoControl(dir, windows.FSCTL_SET_REPARSE_POINT, &buffer[0], uint32(len(buffer)), nil, 0, &returned, nil)
}
