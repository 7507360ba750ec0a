package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

const jsonSchema = "../../docs/json.schema.json"

// TestJSONSchema compares the schema of the JSON output with the types in the code and their
// comments. With -update it writes the schema again.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	describer := jsonDescriber{comments: structComments(t)}
	schema, err := json.MarshalIndent(describer.schema(), "", "  ")
	testenv.Must(t, err)
	want := string(schema) + "\n"
	if *update {
		testenv.WriteFile(t, jsonSchema, want)
	}
	got, err := os.ReadFile(jsonSchema)
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%s: %v; -update writes it (-want +got):\n%s", jsonSchema, err, diff)
	}
}

// schemaOfLines compiles the schema in docs.
func schemaOfLines(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	schema, err := readSchema(jsonSchema)
	testenv.Must(t, err)
	return schema
}

// TestJSONRecords validates a line of each type, with all fields set, against the schema.
func TestJSONRecords(t *testing.T) {
	t.Parallel()
	schema := schemaOfLines(t)
	kinds := make(map[string]bool)
	for _, r := range records.All {
		kind := records.KindOf(r)
		if kinds[kind] {
			t.Errorf("two records are of the kind %q", kind)
		}
		kinds[kind] = true
		if _, ok := r.(event.Resolved); ok {
			r = event.Resolved{Source: addrs.ModuleSourceLocal("./net")} // every Resolved has a source
		}
		for _, value := range []records.Record{filled(r), r} {
			var stdout strings.Builder
			testenv.Must(t, (&output{stdout: &stdout}).writeProjectJSON("envs/prod", value))
			checkLine(t, schema, stdout.String())
		}
	}
	for _, wrong := range []string{`{"type":"version"}`, `{"v":1,"type":"nothing"}`, `{"v":1,"type":"version","version":1,"platform":""}`, `{"v":1,"type":"version","version":"1"}`} {
		var value any
		testenv.Must(t, json.Unmarshal([]byte(wrong), &value))
		if schema.Validate(value) == nil {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
}

func checkLine(t *testing.T, schema *jsonschema.Resolved, line string) {
	t.Helper()
	var value any
	err := json.Unmarshal([]byte(line), &value)
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s\n%v", line, err)
	}
}

// TestJSONOfGoldens validates each line of JSON in testdata/golden and in the expected
// outputs of the scripts.
func TestJSONOfGoldens(t *testing.T) {
	t.Parallel()
	schema := schemaOfLines(t)
	names, err := filepath.Glob("testdata/*/*.txtar")
	testenv.Must(t, err)
	for _, name := range names {
		text := readFile(t, name)
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte(`{"v":`)) {
				checkLine(t, schema, string(line))
			}
		}
	}
}

// filled returns a record of the same type with all fields set.
func filled(r records.Record) records.Record {
	value := reflect.New(reflect.TypeOf(r)).Elem()
	fillAll(value, 0)
	return value.Interface()
}

func fillAll(v reflect.Value, depth int) {
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		for _, value := range []string{"acme/net", "linux_amd64", "1.2.3", "origin", "2026-01-02T03:04:05Z", "x"} {
			if text.UnmarshalText([]byte(value)) == nil {
				break
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if source := reflect.ValueOf(addrs.ModuleSourceLocal("./net")); source.Type().Implements(v.Type()) {
			v.Set(source)
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		if depth < 4 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fillAll(v.Index(0), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillAll(v.Field(i), depth+1)
			} else if v.Type().Field(i).Anonymous {
				fillEmbedded(v, i, depth)
			}
		}
	}
}

// fillEmbedded sets the fields of an embedded struct whose type is unexported.
func fillEmbedded(v reflect.Value, i, depth int) {
	embedded := reflect.NewAt(v.Type().Field(i).Type, v.Field(i).Addr().UnsafePointer()).Elem()
	fillAll(embedded, depth+1)
}

// structComments returns the comments of the struct types of this package, and of those whose types are in
// records, by "package.type", and of their fields, by "package.type.field".
func structComments(t *testing.T) map[string]string {
	t.Helper()
	comments := make(map[string]string)
	var names []string
	for _, dir := range []string{"../../lockfile", "../../internal/store", "../../installer/evidence", "../../installer", "../../installer/event", "../../internal/cli/records", "."} {
		found, err := filepath.Glob(dir + "/*.go")
		testenv.Must(t, err)
		names = append(names, found...)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		testenv.Must(t, err)
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				fields, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				name := file.Name.Name + "." + spec.Name.Name
				comments[name] = sentence(oneLine(gen.Doc.Text()), spec.Name.Name)
				for _, field := range fields.Fields.List {
					for _, ident := range field.Names {
						comments[name+"."+ident.Name] = sentence(oneLine(field.Doc.Text()+field.Comment.Text()), ident.Name)
					}
				}
			}
		}
	}
	return comments
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// jsonDescriber describes the types of the JSON output.
type jsonDescriber struct {
	comments map[string]string
}

// jsonField is a field of a type in the JSON output.
type jsonField struct {
	name, comment string
	optional      bool
	typ           reflect.Type
}

func (d *jsonDescriber) fields(t reflect.Type) []jsonField {
	var fields []jsonField
	for field := range t.Fields() {
		if field.Anonymous {
			fields = append(fields, d.fields(field.Type)...)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		fields = append(fields, jsonField{name, d.comments[t.String()+"."+field.Name], strings.HasPrefix(options, "omit"), field.Type})
	}
	return fields
}

// sentence returns a comment without the Go name with which it begins.
func sentence(comment, name string) string {
	rest := comment
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, name+" "+verb)
	}
	if strings.HasPrefix(rest, name+" says ") {
		rest = strings.TrimPrefix(rest, name+" ")
	}
	if rest == "" {
		return ""
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// typeName returns the name of a type in the schema.
func typeName(t reflect.Type) string {
	if t == reflect.TypeFor[lockfile.Module]() {
		return "LockEntry" // a Module is what is installed
	}
	return t.Name()
}

// resultKinds are the possible values of the type of a result; see done.
var resultKinds = []string{"installed", "locked", "planned"}

// schema returns a JSON schema that describes a line.
func (d *jsonDescriber) schema() map[string]any {
	defs := make(map[string]any)
	var lines []any
	for _, r := range records.All {
		own := d.object(reflect.TypeOf(r), defs)
		properties := own["properties"].(map[string]any)
		properties["v"] = map[string]any{"const": records.FormatVersion}
		properties["type"] = map[string]any{"const": records.KindOf(r)}
		properties["project"] = map[string]any{"type": "string"}
		properties["ok"] = map[string]any{"type": "boolean", "description": d.comments["records.Envelope.OK"]}
		own["required"] = append([]string{"v", "type"}, own["required"].([]string)...)
		lines = append(lines, own)
	}
	// A result has a different type for each kind of run.
	result := lines[0].(map[string]any)["properties"].(map[string]any)
	result["type"] = map[string]any{"enum": resultKinds}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "A line of cotter's JSON output",
		"oneOf":   lines,
		"$defs":   defs,
	}
}

func (d *jsonDescriber) object(t reflect.Type, defs map[string]any) map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, f := range d.fields(t) {
		property := d.property(f.typ, defs)
		if f.comment != "" {
			property["description"] = f.comment
		}
		properties[f.name] = property
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "description": d.comments[t.String()], "properties": properties, "required": required}
}

func (d *jsonDescriber) property(t reflect.Type, defs map[string]any) map[string]any {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.property(t.Elem(), defs)
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": d.property(t.Elem(), defs)}
	case reflect.Struct:
		name := typeName(t)
		if _, known := defs[name]; !known {
			defs[name] = nil // it may have itself as a field
			defs[name] = d.object(t, defs)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	default:
		return map[string]any{"type": "string"}
	}
}

// readSchema reads a JSON schema.
func readSchema(name string) (*jsonschema.Resolved, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(text, schema); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return schema.Resolve(nil)
}
