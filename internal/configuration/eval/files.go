package eval

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// Files are the files that functions can read. Names are absolute, or relative to the root module's
// directory. If an error wraps a *[config.FileReadError], the evaluation fails, even in try or can, and the
// error is the Extra of the diagnostic.
type Files interface {
	// ReadFile returns an error if the file has more than max bytes.
	ReadFile(name string, max int64) ([]byte, error)
	// Stat follows links. What is neither a regular file nor a directory is an error.
	Stat(name string) (fs.FileInfo, error)
	// ReadDir returns the entries of a directory that the module may know, or an error if there are more than max. A regular
	// file has none.
	ReadDir(name string, max int) ([]fs.DirEntry, error)
	// Abs returns the absolute form of a name, or an error if the module must not know it.
	Abs(name string) (string, error)
}

// A file of which only the hash matters may be larger than a text: hashedBytes bytes are a unit of work. fileWork is for
// opening a file.
const (
	fileWork    = 300
	maxHashed   = 16 << 20
	hashedBytes = 16
)

var errDirectory = errors.New("it is a directory")

func (m *Meter) fileFunctions(scope Scope) map[string]function.Function {
	if scope.Files == nil {
		return nil
	}
	inBase64 := base64.StdEncoding.EncodeToString
	hashed := func(of func(text []byte) []byte, encode func([]byte) string) function.Function {
		return textFunction(func(args []string) (string, error) {
			text, err := m.readFile(scope.Files, args[0], maxHashed, hashedBytes)
			if err != nil {
				return "", err
			}
			return encode(of(text)), nil
		}, "path")
	}
	asMD5 := func(text []byte) []byte { sum := md5.Sum(text); return sum[:] }
	asSHA1 := func(text []byte) []byte { sum := sha1.Sum(text); return sum[:] }
	asSHA256 := func(text []byte) []byte { sum := sha256.Sum256(text); return sum[:] }
	asSHA512 := func(text []byte) []byte { sum := sha512.Sum512(text); return sum[:] }
	return map[string]function.Function{
		"filebase64": textFunction(func(args []string) (string, error) {
			text, err := m.readFile(scope.Files, args[0], maxString, 1)
			return inBase64(text), err
		}, "path"),
		"filebase64sha256": hashed(asSHA256, inBase64),
		"filebase64sha512": hashed(asSHA512, inBase64),
		"filemd5":          hashed(asMD5, hex.EncodeToString),
		"filesha1":         hashed(asSHA1, hex.EncodeToString),
		"filesha256":       hashed(asSHA256, hex.EncodeToString),
		"filesha512":       hashed(asSHA512, hex.EncodeToString),
		"abspath":          textFunction(func(args []string) (string, error) { return scope.Files.Abs(args[0]) }, "path"),
		"file":             textFunction(func(args []string) (string, error) { return m.readText(scope.Files, args[0], maxString) }, "path"),
		"fileexists": function.New(&function.Spec{
			Params: textParameters("path"),
			Type:   function.StaticReturnType(cty.Bool),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				found, err := exists(scope.Files, args[0].AsString())
				return cty.BoolVal(found), m.noteRefusal(err)
			},
		}),
		"fileset": m.fileSetFunction(scope.Files),
		"templatefile": m.templateFunction("path", func(name string) (string, string, error) {
			text, err := m.readText(scope.Files, name, hcldepth.MaxTemplate)
			return text, name, err
		}),
	}
}

func exists(files Files, name string) (bool, error) {
	info, err := files.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.IsDir() {
		err = errDirectory
	}
	if err != nil {
		return false, fmt.Errorf("%q: %w", name, err)
	}
	return true, nil
}

// readFile reads a file of at most limit bytes, of which a unit of work covers perUnit.
func (m *Meter) readFile(files Files, name string, limit, perUnit int64) ([]byte, error) {
	if !m.charge(fileWork) {
		return nil, m.err
	}
	text, err := files.ReadFile(name, limit)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, m.noteRefusal(err))
	}
	if !m.charge(int64(len(text)) / perUnit) {
		return nil, m.err
	}
	return text, nil
}

func (m *Meter) readText(files Files, name string, limit int64) (string, error) {
	text, err := m.readFile(files, name, limit, 1)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", fmt.Errorf("%q is not UTF-8", name)
	}
	return string(text), nil
}

// templateFunction renders the template that read returns for its first argument. The template cannot read files.
func (m *Meter) templateFunction(first string, read func(string) (text, name string, err error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: first, Type: cty.String},
			{Name: "vars", Type: cty.DynamicPseudoType},
		},
		Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if ty := args[1].Type(); !ty.IsMapType() && !ty.IsObjectType() {
				return cty.NilVal, errors.New("the second argument must be a map")
			}
			text, name, err := read(args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			return m.render(text, name, args[1].AsValueMap())
		},
	})
}

func (m *Meter) render(text, name string, values map[string]cty.Value) (cty.Value, error) {
	expr, diags := hcldepth.ParseTemplate(m.ctx, []byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	for _, traversal := range expr.Variables() {
		if _, ok := values[traversal.RootName()]; !ok {
			return cty.NilVal, fmt.Errorf("%q uses %q, which is not among the given values", name, traversal.RootName())
		}
	}
	v, diags := m.Evaluate(expr, Scope{Values: values})
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return v, nil
}

// noteRefusal remembers a refused file for try and can.
func (m *Meter) noteRefusal(err error) error {
	if refused, ok := errors.AsType[*config.FileReadError](err); ok {
		m.refused = refused
	}
	return err
}

// showRefusals keeps try and can from hiding that a file was refused: the result, and so the address, would
// differ from that of stock tools.
func (m *Meter) showRefusals(f function.Function) function.Function {
	check := func(err error, before *config.FileReadError) error {
		if m.refused != before {
			return m.refused
		}
		return err
	}
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			before := m.refused
			ty, err := f.ReturnTypeForValues(args)
			return ty, check(err, before)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			before := m.refused
			v, err := f.Call(args)
			return v, check(err, before)
		},
	})
}

// refusal returns the diagnostic for a function call that failed because a file was refused, or nil. If
// secret is set, it does not name the file.
func refusal(diag *hcl.Diagnostic, secret bool) *hcl.Diagnostic {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	if !ok {
		return nil
	}
	refused, ok := errors.AsType[*config.FileReadError](call.FunctionCallError())
	if !ok {
		return nil
	}
	what := fmt.Sprintf("The file %q", refused.Path)
	if secret {
		what = "A file, whose name is sensitive or ephemeral,"
		refused = &config.FileReadError{Allowed: refused.Allowed, Reason: refused.Reason}
	}
	shown := failure(diag.Subject, "File not allowed", "%s cannot be read by a source or a version: %s.", what, refused.Reason)
	shown.Context, shown.Extra = diag.Context, refused
	return shown
}
