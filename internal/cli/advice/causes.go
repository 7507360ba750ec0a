package advice

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
	"github.com/cotterpin/cotter/registryclient"
)

// cause is what a message says in place of the text of an error, which repeats what the message names.
type cause struct {
	text string
	// More is added if only one call has the cause.
	more string
}

// causeTable has texts for errors whose own text has more than users need. The first one is used; "" is for other errors.
var causeTable = []func(error) string{
	fullDisk,
	when(installer.ErrNoVersionsOffline, "the lock has no version that fits, and versions cannot be listed offline"),
	when(installer.ErrUnconfirmedOffline, unconfirmedOffline),
	func(err error) string {
		if errors.Is(err, installer.ErrOffline) && Is[*getproviders.UnconfirmedError](err) {
			return unconfirmedOffline
		}
		return ""
	},
	when(installer.ErrOffline, "neither installed nor in the cache"),
	on(func(e *installer.InvalidOptionsError) string { // users do not know the fields
		return (&installer.InvalidOptionsError{Reason: e.Reason, Err: e.Err}).Error()
	}),
	on(func(e *installer.ContentChangedError) string {
		if !e.Confirming {
			return ""
		}
		return WithShortCommits(e.Error())
	}),
	on(func(e *installer.UnreachableError) string { return WithShortCommits(e.Error()) }),
	on(func(e *installer.MissingLockError) string { return e.Error() }), // the same for all projects
	on(func(e *s3.CredentialsError) string { return e.Error() }),
	on(func(e *getmodules.LimitError) string {
		if e.Limit != getmodules.LimitRun {
			return ""
		}
		return (&getmodules.LimitError{Limit: e.Limit, Max: e.Max}).Error() // all calls have written what is too much
	}),
}

const unconfirmedOffline = "not in the cache: no origin has confirmed the lock's entry for it on this machine"

// fact is an error of the library whose text says what went wrong without the errors around it.
type fact interface {
	error
	// Common is the beginning of the text, which the errors of several calls can have in common.
	Common() string
}

// causeOf returns nil if the error's own text is best.
func causeOf(err error) *cause {
	if errors.Is(err, context.Canceled) && !errors.Is(err, installer.ErrOffline) {
		return nil
	}
	for _, find := range causeTable {
		if text := find(err); text != "" {
			return &cause{text: text}
		}
	}
	if known, ok := errors.AsType[fact](err); ok {
		return &cause{known.Common(), suffixes(err)}
	}
	if isUnusable(err) {
		return &cause{ownText(err), suffixes(err)}
	}
	return nil
}

// suffixes returns what a fact, and the errors around it, say of one call alone.
func suffixes(err error) (text string) {
	switch e := err.(type) { //nolint:errorlint // it looks at each error of the chain
	case fact:
	case interface{ Unwrap() error }:
		text = suffixes(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			text += suffixes(one)
		}
	}
	if add, ok := err.(interface{ Suffix() string }); ok {
		text += add.Suffix()
	}
	return text
}

// isUnusable is for an answer that is not what was asked for.
func isUnusable(err error) bool {
	return slices.ContainsFunc([]error{
		disco.ErrInvalidAnswer, disco.ErrServiceNotProvided, disco.ErrVersionNotSupported, registryclient.ErrInvalidAnswer,
		getproviders.ErrInvalidMirror, getproviders.ErrMalformedSignature, getmodules.ErrOCIContent, getmodules.ErrNotArchive,
	}, func(is error) bool { return errors.Is(err, is) })
}

// ownText is the text of an error without the module or provider, which the message names.
func ownText(err error) string {
	if discovery, ok := errors.AsType[*disco.DiscoveryError](err); ok {
		return discovery.Error()
	}
	if request, ok := errors.AsType[*registryclient.RequestError](err); ok {
		return request.Cause()
	}
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		return module.Err.Error()
	}
	if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		return provider.Err.Error()
	}
	return err.Error()
}

// wholeCommit is the ID of a commit, of which text output shows the first digits.
var wholeCommit = lazyregexp.New(`\b[0-9a-f]{40}\b`)

func WithShortCommits(text string) string {
	return wholeCommit().ReplaceAllStringFunc(text, view.Short)
}

// fullDisk is for a file system without space, or an exceeded quota.
func fullDisk(err error) string {
	what := "no space is left on the disk"
	switch {
	case errors.Is(err, syscall.EDQUOT):
		what = "the disk quota is exceeded"
	case errors.Is(err, syscall.ENOSPC), isFullOnWindows(err):
	case strings.Contains(err.Error(), "No space left on device"): // git's text
	default:
		return ""
	}
	if full, ok := errors.AsType[*packagelimits.SpaceError](err); ok {
		return full.Error()
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		what += " of " + fullPlace(at.Path)
	}
	return what
}

func isFullOnWindows(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return runtime.GOOS == "windows" && (errors.Is(err, handleDiskFull) || errors.Is(err, diskFull))
}

// fullPlace names the project's .terraform, the cache, or the directory of the file: a run writes many below.
func fullPlace(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if part == ".terraform" || strings.HasPrefix(part, "cotter") {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return filepath.ToSlash(filepath.Dir(name))
}
