package userkey

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

const fileName = "key"

// Read returns the key in a state directory. If there is no key, the error wraps fs.ErrNotExist.
// It is an error if other users can read the file or could have written it, because they could
// forge proofs. If they could exchange the directory, it is a *[pathsafe.ExposedError].
func Read(dir string) (*Key, error) {
	root, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root)
}

// open opens the state directory, which must not be a link: the link and its target can have
// different owners.
func open(dir string) (*os.Root, error) {
	if err := pathsafe.CheckOwners(dir); err != nil {
		return nil, err
	}
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
	file, err := atomicfile.Open(root, fileName, size)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// What is checked is the opened file: its name may mean another one by now.
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	secret, err := io.ReadAll(io.LimitReader(file, size+1))
	if err != nil {
		return nil, err
	}
	fail := func(what string) error { return &fs.PathError{Op: "use", Path: fileName, Err: errors.New(what)} }
	switch {
	case len(secret) != size:
		return nil, fail(fmt.Sprintf("it does not contain a key of %d bytes", size))
	case !isPrivate(info):
		return nil, fail("other users have access to it; remove it, or give it the mode 0600")
	}
	return &Key{secret: [size]byte(secret)}, nil
}

const maxWait = 5 * time.Second

// ReadOrMake is like [Read], but creates the directory and the key if they do not exist.
// Processes that call it at the same time get the same key.
func ReadOrMake(dir string) (*Key, error) {
	if err := pathsafe.CheckOwners(dir); err != nil {
		return nil, err // before the directory is created
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Only one process at a time creates the key and removes the files of killed processes. If
	// directories cannot be locked, the first process wins.
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
