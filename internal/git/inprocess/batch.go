package inprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Batch answers for objects as git cat-file --batch does: each line that is
// written to Stdin names one, and Stdout has "ID TYPE SIZE", a line end, the
// content, and a line end; or the name and "missing" or "ambiguous". Whoever
// reads git's objects reads these.
type Batch struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	cancel context.CancelCauseFunc
	ended  chan struct{}
	err    error
}

// Start begins to answer. The caller must call Wait or Kill.
func (o *Objects) Start(ctx context.Context) *Batch {
	ctx, cancel := context.WithCancelCause(ctx)
	names, stdin := io.Pipe()
	stdout, answers := io.Pipe()
	b := &Batch{Stdin: stdin, Stdout: stdout, cancel: cancel, ended: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() {
		names.CloseWithError(context.Cause(ctx))
		answers.CloseWithError(context.Cause(ctx))
	})
	go func() {
		defer close(b.ended)
		defer stop()
		b.err = o.serve(names, answers)
		if ctx.Err() != nil {
			b.err = context.Cause(ctx)
		}
		names.CloseWithError(io.ErrClosedPipe)
		answers.CloseWithError(b.err) // nil means the end
	}()
	return b
}

// Wait waits for the last answer to be taken. Stdin must be closed.
func (b *Batch) Wait() error {
	<-b.ended
	b.cancel(nil)
	return b.err
}

// Kill ends it, whether all answers were taken or not.
func (b *Batch) Kill() {
	b.cancel(context.Canceled)
	<-b.ended
}

func (o *Objects) serve(names io.Reader, answers io.Writer) error {
	out := bufio.NewWriter(answers)
	lines := bufio.NewScanner(names)
	for lines.Scan() {
		if err := o.answer(out, lines.Text()); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (o *Objects) answer(out *bufio.Writer, name string) (err error) {
	obj, err := o.find(name)
	switch {
	case errors.Is(err, errMissing), errors.Is(err, errAmbiguous):
		_, err := fmt.Fprintf(out, "%s %s\n", name, err)
		return err
	case err != nil:
		return err
	}
	content, err := obj.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if _, err := fmt.Fprintf(out, "%s %s %d\n", obj.id, obj.Type(), obj.Size()); err != nil {
		return err
	}
	if _, err := io.Copy(out, content); err != nil {
		return err
	}
	return out.WriteByte('\n')
}
