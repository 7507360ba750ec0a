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
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func stringFunctions() map[string]function.Function {
	return map[string]function.Function{
		"basename":     ofText(filepath.Base),
		"dirname":      ofText(filepath.Dir),
		"base64decode": textFunction(decodeBase64, "str"),
		"base64encode": ofText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"base64sha256": ofText(func(s string) string { h := sha256.Sum256([]byte(s)); return base64.StdEncoding.EncodeToString(h[:]) }),
		"base64sha512": ofText(func(s string) string { h := sha512.Sum512([]byte(s)); return base64.StdEncoding.EncodeToString(h[:]) }),
		"md5":          ofText(func(s string) string { h := md5.Sum([]byte(s)); return hex.EncodeToString(h[:]) }),
		"sha1":         ofText(func(s string) string { h := sha1.Sum([]byte(s)); return hex.EncodeToString(h[:]) }),
		"sha256":       ofText(func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }),
		"sha512":       ofText(func(s string) string { h := sha512.Sum512([]byte(s)); return hex.EncodeToString(h[:]) }),
		"urlencode":    ofText(url.QueryEscape),
		"urldecode":    textFunction(func(s []string) (string, error) { return url.QueryUnescape(s[0]) }, "str"),
		"startswith":   textTest(strings.HasPrefix, "prefix"),
		"endswith":     textTest(strings.HasSuffix, "suffix"),
		"strcontains":  textTest(strings.Contains, "substr"),
		"timecmp":      timeCompareFunction(),
	}
}

func decodeBase64(args []string) (string, error) {
	text, err := base64.StdEncoding.DecodeString(args[0])
	if err == nil && !utf8.Valid(text) {
		err = errors.New("the decoded bytes are not UTF-8")
	}
	return string(text), err
}

func ofText(f func(string) string) function.Function {
	return textFunction(func(args []string) (string, error) { return f(args[0]), nil }, "str")
}

func textFunction(f func([]string) (string, error), params ...string) function.Function {
	return function.New(&function.Spec{
		Params: textParameters(params...),
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := f(texts(args))
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(text), nil
		},
	})
}

func textTest(f func(s, part string) bool, param string) function.Function {
	return function.New(&function.Spec{
		Params: textParameters("str", param),
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

func textParameters(names ...string) []function.Parameter {
	var params []function.Parameter
	for _, name := range names {
		params = append(params, function.Parameter{Name: name, Type: cty.String})
	}
	return params
}

func texts(args []cty.Value) []string {
	var list []string
	for _, arg := range args {
		list = append(list, arg.AsString())
	}
	return list
}

// replaceFunction replaces a text, or the matches of a regular expression between two slashes.
func replaceFunction() function.Function {
	return textFunction(func(args []string) (string, error) {
		pattern := args[1]
		if len(pattern) < 2 || !strings.HasPrefix(pattern, "/") || !strings.HasSuffix(pattern, "/") {
			return strings.ReplaceAll(args[0], pattern, args[2]), nil
		}
		v, err := stdlib.RegexReplace(cty.StringVal(args[0]), cty.StringVal(pattern[1:len(pattern)-1]), cty.StringVal(args[2]))
		if err != nil {
			return "", err
		}
		return v.AsString(), nil
	}, "str", "substring", "replacement")
}

func timeCompareFunction() function.Function {
	return function.New(&function.Spec{
		Params: textParameters("timestamp_a", "timestamp_b"),
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var times [2]time.Time
			for i, text := range texts(args) {
				var err error
				if times[i], err = time.Parse(time.RFC3339, text); err != nil {
					return cty.NilVal, fmt.Errorf("%q is not a time such as 2026-01-02T15:04:05Z", text)
				}
			}
			return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
		},
	})
}
