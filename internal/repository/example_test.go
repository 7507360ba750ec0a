package repository_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/repository"
)

// This program finds the root modules that a change of one file affects.
func ExampleChangedRoots() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"envs/dev/main.tf":  "module \"net\" {\n  source = \"../../net\"\n}\n",
		"envs/prod/main.tf": "module \"vpc\" {\n  source  = \"terraform-aws-modules/vpc/aws\"\n  version = \"~> 5.0\"\n}\n",
		"net/main.tf":       "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	ctx, in := context.Background(), installer.New(installer.Options{})
	dirs, err := repository.Roots(ctx, in, dir, installer.DialectAuto)
	if err != nil {
		log.Fatal(err)
	}
	changed, err := repository.ChangedRoots(ctx, in, dirs, []string{filepath.Join(dir, "net/main.tf")}, installer.Project{})
	if err != nil {
		log.Fatal(err)
	}
	for _, list := range [][]string{dirs, changed} {
		for i, root := range list {
			list[i], _ = filepath.Rel(dir, root)
		}
		fmt.Println(filepath.ToSlash(strings.Join(list, " ")))
	}
	// Output:
	// envs/dev envs/prod
	// envs/dev
}
