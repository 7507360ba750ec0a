package pathsafe

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// DirFiles are the files of an open directory.
type DirFiles struct{ dir *os.File }

// OpenFile is an open file without the poller of [os.File], which is asked in vain about each file on disk. It must be closed.
type OpenFile struct {
	fd   int
	name string
	file *os.File // made by OSFile
}

func filesIn(root *os.Root) (*DirFiles, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	return &DirFiles{dir}, nil
}

func (d *DirFiles) Close() error { return d.dir.Close() }

// Open opens a file of the directory itself for reading. It neither follows a link nor waits for the writer of a named pipe.
func (d *DirFiles) Open(name string) (*OpenFile, error) {
	return d.open(name, syscall.O_RDONLY|Nonblock|NoFollow, 0)
}

// Create creates a new file in the directory itself, for writing and reading.
func (d *DirFiles) Create(name string, mode fs.FileMode) (*OpenFile, error) {
	return d.open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|NoFollow, uint32(mode.Perm()))
}

func (d *DirFiles) open(name string, flags int, mode uint32) (*OpenFile, error) {
	if !IsName(name) || strings.Contains(name, "/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	fd, err := uninterrupted(func() (int, error) {
		return syscall.Openat(int(d.dir.Fd()), name, flags|syscall.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &OpenFile{fd: fd, name: name}, nil
}

// outOfRoot returns the same directory, and closes dir.
func outOfRoot(dir *os.File) (*os.File, error) {
	defer dir.Close()
	fd, err := uninterrupted(func() (int, error) {
		fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, dir.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
		if errno != 0 {
			return 0, errno
		}
		return int(fd), nil
	})
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), dir.Name()), nil
}

// uninterrupted repeats a system call that a signal has interrupted.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR { //nolint:errorlint // system calls return it unwrapped
			return n, err
		}
	}
}

func (f *OpenFile) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *OpenFile) Stat() (FileState, error) {
	var stat syscall.Stat_t
	if _, err := uninterrupted(func() (int, error) { return 0, syscall.Fstat(f.fd, &stat) }); err != nil {
		return FileState{}, f.failed("stat", err)
	}
	mode := fs.FileMode(stat.Mode).Perm()
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		mode |= fs.ModeIrregular
	}
	return FileState{stat.Size, mode}, nil
}

func (f *OpenFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := uninterrupted(func() (int, error) { return syscall.Read(f.fd, p) })
	if err != nil {
		return 0, f.failed("read", err)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *OpenFile) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, err := uninterrupted(func() (int, error) { return syscall.Write(f.fd, p[written:]) })
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return written, f.failed("write", err)
		}
		written += n
	}
	return written, nil
}

func (f *OpenFile) Chmod(mode fs.FileMode) error {
	_, err := uninterrupted(func() (int, error) { return 0, syscall.Fchmod(f.fd, uint32(mode.Perm())) })
	return f.failed("chmod", err)
}

// OSFile returns the same file for what only the os package can do. It is closed with f.
func (f *OpenFile) OSFile() *os.File {
	if f.file == nil {
		f.file = os.NewFile(uintptr(f.fd), f.name)
	}
	return f.file
}

func (f *OpenFile) Close() error {
	if f.file != nil {
		return f.file.Close()
	}
	return f.failed("close", syscall.Close(f.fd))
}
