package userkey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/filelock"
)

// fileName is the key's file in the state directory.
const fileName = "key"

// Read returns the key in a state directory. Without a key, the error wraps
// fs.ErrNotExist. A file that other users can read or could have written is an
// error, since they could forge proofs with it.
func Read(dir string) (*Key, error) {
	root, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root)
}

// open opens the state directory, which must not be a link: the owner of a link
// can be another user than that of its target.
func open(dir string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is not a directory")}
	}
	return os.OpenRoot(dir)
}

func read(root *os.Root) (*Key, error) {
	secret, err := atomicfile.Read(root, fileName, size+1)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(fileName)
	if err != nil {
		return nil, err
	}
	fail := func(what string) error { return &fs.PathError{Op: "use", Path: fileName, Err: errors.New(what)} }
	switch {
	case len(secret) != size:
		return nil, fail(fmt.Sprintf("it does not hold a key of %d bytes", size))
	case !isPrivate(info):
		return nil, fail("other users have access to it; remove it, or give it the mode 0600")
	}
	return &Key{secret: [size]byte(secret)}, nil
}

// maxWait is how long a process waits for another one that makes the key. That
// takes milliseconds.
const maxWait = 5 * time.Second

// ReadOrMake is [Read], and makes the directory and the key if they do not exist.
// Processes that do so at the same time get the same key.
func ReadOrMake(dir string) (*Key, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// One process at a time makes the key and removes the files of killed
	// processes. If directories cannot be locked, the first process wins.
	lock := filelock.Dir(dir)
	held, err := lock.TryExclusive()
	if !held && err == nil {
		if key, err := read(root); !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), maxWait)
		defer cancel()
		held = lock.Exclusive(ctx, 0, nil) == nil
	}
	if held {
		defer func() { _ = lock.Release() }()
		atomicfile.Sweep(root, fileName)
	}
	key, err := read(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	secret := make([]byte, size)
	rand.Read(secret)
	err = atomicfile.Create(root, fileName, secret, 0o600, "userkey.key")
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return read(root) // perhaps the key of a faster process
}
