package installer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
)

// Vendored is a ConfigReader that replaces git sources by the project's copies of these modules.
type Vendored struct{ installer.ConfigReader }

func (v Vendored) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	config, diags := v.ConfigReader.ReadModule(ctx, dir)
	for i, call := range config.Calls {
		if name, ok := strings.CutPrefix(call.Source, "git::https://git.example.com/"); ok {
			config.Calls[i].Source = "./vendor/" + strings.TrimSuffix(name, ".git")
		}
	}
	return config, diags
}

func ExampleDefaultConfigReader() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"main.tf":                    "variable \"team\" {}\nmodule \"network\" {\n  source = \"git::https://git.example.com/${var.team}/network.git\"\n}\n",
		"vendor/net/network/main.tf": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	req := request{Project: installer.Project{Dir: dir, Inputs: config.Inputs{Variables: []config.Variable{{Name: "team", Value: "net"}}}}}
	reader, err := installer.DefaultConfigReader(req.Project)
	if err != nil {
		log.Fatal(err)
	}
	in := installer.New(installer.Options{Config: Vendored{reader}})
	result, err := in.Install(context.Background(), req.Project, req.InstallOptions)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Source, m.Dir)
	}
	// Output:
	// network ./vendor/net/network vendor/net/network
}
