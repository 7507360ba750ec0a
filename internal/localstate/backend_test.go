package localstate_test

import (
	"fmt"
	"testing"
)

const (
	a = `provider["reg.example.com/acme/a"]`
	b = `provider["reg.example.com/acme/b"]`
	// record is the file in which stock tools record the backend.
	record = ".terraform/terraform.tfstate"
)

func recorded(backend, path string, hash int) string {
	return fmt.Sprintf(`{"version": 3, "backend": {"type": %q, "config": {"path": %s, "workspace_dir": null}, "hash": %d}}`, backend, path, hash)
}

func local(argument string) string {
	return "terraform {\n  backend \"local\" {\n    " + argument + "\n  }\n}\n"
}

func TestReadLocalBackend(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{name: "a local backend", workspace: "default", files: map[string]string{"main.tf": local(`path = "x/y"`), "x/y": resources(a)}, file: "x/y", providers: "reg.example.com/acme/a"},
		{name: "a local backend and no state", workspace: "default", files: map[string]string{"main.tf": local(`path = "x/y"`)}},
		{name: "a local backend without a path", workspace: "default", files: map[string]string{"main.tf": local(""), "terraform.tfstate": resources(a)}, file: "terraform.tfstate", providers: "reg.example.com/acme/a"},
		{name: "a workspace of a local backend with a path", workspace: "prod", files: map[string]string{"main.tf": local(`path = "x"`), "x": resources(b), "terraform.tfstate.d/prod/terraform.tfstate": resources(a)}, file: "terraform.tfstate.d/prod/terraform.tfstate", providers: "reg.example.com/acme/a"},
		{name: "a workspace of a local backend with a directory", workspace: "prod", files: map[string]string{"main.tf": local(`workspace_dir = "./ws/"`), "ws/prod/terraform.tfstate": resources(a)}, file: "ws/prod/terraform.tfstate", providers: "reg.example.com/acme/a"},
		{name: "a local backend whose path is not known", workspace: "default", files: map[string]string{"main.tf": local(`path = aws_x.y.z`), "terraform.tfstate": resources(a)}, unknown: "the path of the backend at main.tf:3 cannot be evaluated"},
		{name: "a value of a variable", workspace: "default", files: map[string]string{"main.tf": local(`path = var.v`) + "variable \"v\" {}\n", "x": resources(a)}, file: "x", providers: "reg.example.com/acme/a"},
		{name: "a local backend whose path is a directory", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "x/y": ""}, unknown: "x cannot be read: it is not a regular file"},
		{name: "a local backend whose path is below a file", workspace: "default", files: map[string]string{"main.tf": local(`path = "main.tf/x"`)}, unknown: "main.tf/x cannot be read"},
		{name: "a local backend and an earlier state", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "x": resources(a), "terraform.tfstate": resources(b)}, file: "x", providers: "reg.example.com/acme/a", unknown: "there is also an earlier state in terraform.tfstate"},
		{name: "a local backend and an earlier state that is not copied yet", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "terraform.tfstate": resources(b)}, unknown: "there is also an earlier state in terraform.tfstate"},
		{name: "a local backend and an earlier state with the same needs", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "x": resources(a, b), "terraform.tfstate": resources(b)}, file: "x", providers: "reg.example.com/acme/a reg.example.com/acme/b"},
		{name: "a local backend and an earlier state that cannot be read", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "terraform.tfstate": resources("provider.a")}, unknown: "there is also an earlier state"},
		{name: "a local backend and an earlier state without resources", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), "terraform.tfstate": resources()}},
	})
}

func TestReadRecord(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{name: "a record of the same backend", workspace: "default", files: map[string]string{"main.tf": local(`path = "x"`), record: recorded("local", `"x"`, 1), "x": resources(a), "terraform.tfstate": resources(b)}, file: "x", providers: "reg.example.com/acme/a"},
		{name: "a record of -backend-config", workspace: "default", files: map[string]string{"main.tf": local(""), record: recorded("local", `"y.tfstate"`, 666019178), "y.tfstate": resources(a)}, file: "y.tfstate", providers: "reg.example.com/acme/a"},
		{name: "a record of an earlier configuration", workspace: "default", files: map[string]string{"main.tf": local(""), record: recorded("local", `"y.tfstate"`, 616693309), "y.tfstate": resources(a), "terraform.tfstate": resources(b)}, unknown: "the backend has changed"},
		{name: "a record and no backend", workspace: "default", files: map[string]string{record: recorded("local", `"y.tfstate"`, 666019178), "y.tfstate": resources(a)}, unknown: "the backend has changed"},
		{name: "a record of the default place and no backend", workspace: "default", files: map[string]string{record: recorded("local", "null", 666019178), "terraform.tfstate": resources(a)}, file: "terraform.tfstate", providers: "reg.example.com/acme/a"},
		{name: "a record of a remote backend", workspace: "default", files: map[string]string{"main.tf": local(""), record: recorded("s3", "null", 1)}, unknown: "a backend keeps it"},
		{name: "a record of a local backend, and a remote one", workspace: "default", files: map[string]string{"main.tf": "terraform {\n  cloud {}\n}\n", record: recorded("local", "null", 1)}, unknown: "a backend keeps it"},
		{name: "a record without arguments", workspace: "default", files: map[string]string{record: `{"backend": {"type": "local"}}`}, unknown: "the record of the backend"},
		{name: "a record with a wrong argument", workspace: "default", files: map[string]string{record: recorded("local", "12", 1)}, unknown: "the record of the backend"},
		{name: "a record that is no JSON", workspace: "default", files: map[string]string{record: "x"}, unknown: "the record of the backend"},
		{name: "a record without a backend", workspace: "default", files: map[string]string{record: `{"version": 3}`, "terraform.tfstate": resources(a)}, file: "terraform.tfstate", providers: "reg.example.com/acme/a"},
	})
}
