package layering_test

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/edit"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// zeroErrors has a zero value of each exported error type. Programs make such values in their tests,
// and as targets of errors.As.
var zeroErrors = []error{
	&addrs.ParseError{},
	&bundle.OtherPackageError{},
	&config.Error{},
	&installer.ConflictError{},
	&installer.ConflictError{Callers: []installer.Caller{{}}},
	&installer.ConstraintError{},
	&installer.ContentChangedError{},
	&versions.DowngradeError{},
	&edit.Error{},
	&gcs.CredentialsError{},
	&getmodules.GitReplacedError{},
	&getmodules.UnknownArgumentsError{},
	&config.FileReadError{},
	&installer.HashMismatchError{},
	&installer.HashMismatchError{Want: []hashing.Hash{"h1:a"}},
	&repository.HistoryEndError{},
	&installer.HostChangedError{},
	&installer.InvalidOptionsError{},
	&installer.LinkedLockError{},
	&installer.MissingLockError{},
	&lockfile.SyntaxError{},
	&installer.DialectError{},
	&installer.DialectError{Differences: []installer.DialectDifference{{}}},
	&installer.LockedError{},
	&installer.LockedError{Reasons: []installer.LockedReason{{}}},
	&installer.LockedError{Lost: true},
	&config.ModuleError{},
	&installer.ContentChangedError{Confirming: true},
	&installer.ProjectError{},
	&installer.ProviderError{},
	&installer.ProviderError{RequiredBy: []installer.ProviderRequirement{{}}},
	&repository.OwnerError{},
	&installer.OutsideError{},
	&installer.StaleError{},
	&getmodules.SubmoduleError{},
	&config.UnknownProviderError{},
	&config.UnknownProviderError{ImpliedBy: &installer.ProviderRequirement{}},
	&installer.UnreachableError{},
	&installer.UnreachableError{Unknown: true},
	&config.UnusableVersionError{},
	&disco.CredentialsError{},
	&disco.DiscoveryError{},
	&getmodules.FetchError{},
	&getmodules.GitWithheldError{},
	&getmodules.PageError{},
	&getmodules.PushError{},
	&getmodules.StatusError{},
	&getmodules.SubmoduleError{},
	&getmodules.RefNotFoundError{},
	&s3.CredentialsError{},
	&s3.NoCredentialsError{},
	&getproviders.AuthenticationError{},
	&getproviders.MirrorError{},
	&getproviders.MismatchError{},
	&getproviders.MissingPlatformError{},
	&config.ProviderError{},
	&getproviders.RefusedError{},
	&getproviders.RenamedError{},
	&getproviders.SearchError{},
	&getproviders.UnconfirmedError{},
	&config.UnknownProviderError{},
	&config.UnusableVersionError{},
	&hashing.HashError{},
	&hashing.SyntaxError{},
	&hashing.TreeError{},
	&hg.Error{},
	&lockfile.ModuleError{},
	&lockfile.ProviderError{},
	&modtest.PublishError{},
	&modtest.TreeError{},
	&versions.OCITagsError{},
	&policy.FileError{},
	&policy.Violation{},
	&registryclient.ProtocolError{},
	&registryclient.RequestError{},
	&versions.AmbiguousVersionError{},
	&versions.DowngradeError{},
	&versions.NoMatchError{},
	&versions.NoProviderMatchError{},
	&versions.ParseError{},
}

// The methods of zero errors return something.
func TestZeroErrors(t *testing.T) {
	t.Parallel()
	for _, err := range zeroErrors {
		t.Run(fmt.Sprintf("%T", err), func(t *testing.T) {
			t.Parallel()
			defer func() {
				if reason := recover(); reason != nil {
					t.Errorf("a method panics: %v", reason)
				}
			}()
			_ = err.Error()
			_ = errors.Is(err, fs.ErrNotExist)
			_, _ = errors.AsType[*fs.PathError](err)
			switch e := err.(type) { //nolint:errorlint // the error itself
			case interface{ Suffix() string }:
				_ = e.Suffix()
			case interface{ Subject() string }:
				_ = e.Subject()
			}
		})
	}
}

// zeroErrors has all exported types of public packages that have a method Error.
func TestZeroErrorsAreAll(t *testing.T) {
	t.Parallel()
	tested := make(map[string]bool)
	for _, err := range zeroErrors {
		tested[strings.TrimPrefix(fmt.Sprintf("%T", err), "*")] = true
	}
	for _, s := range tree(t) {
		if s.test || !public(s.dir) {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Error" || len(f.Type.Params.List) > 0 {
				continue
			}
			receiver := f.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			name, ok := receiver.(*ast.Ident)
			if ok && name.IsExported() && !tested[s.file.Name.Name+"."+name.Name] {
				t.Errorf("%s: add %s to zeroErrors", s.name, name.Name)
			}
		}
	}
}
