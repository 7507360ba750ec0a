package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/cotterpin/cotter/internal/httpx"
)

// Download implements [Package].
func (p *directPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	req, err := newRequest(ctx, p.found.URL)
	if err != nil {
		return atLocation(p.Location(), err)
	}
	sum := sha256.New()
	d := &httpx.Download{File: file, Limit: cmp.Or(p.MaxArchive, defaultMaxArchive), Hash: sum, Progress: progress}
	d.Verify = func() error {
		if size := p.found.Packages[p.found.Platform].Size; size > 0 && d.Size() != size {
			return fmt.Errorf("the archive has %d bytes, and %d were announced", d.Size(), size)
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil)); got != p.found.Sum {
			return &MismatchError{Location: p.Location(), Want: []string{string(p.archive)}, Got: "zh:" + got}
		}
		return nil
	}
	return atLocation(p.Location(), d.Resume(p.client(), req))
}

// atLocation adds the location of a package to an error of its download. A *[MismatchError] has it.
func atLocation(location string, err error) error {
	if err == nil {
		return nil
	}
	if mismatch, ok := errors.AsType[*MismatchError](err); ok {
		return mismatch
	}
	return fmt.Errorf("%s: %w", location, err)
}
