package main

import (
	"bytes"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	module := func(key, source, version, pkg string, hashes ...hashing.Hash) installer.Module {
		path, err := addrs.ParseModule(key)
		testenv.Must(t, err)
		parsed, err := addrs.ParseModuleSource(source)
		testenv.Must(t, err)
		return installer.Module{Path: path, Source: parsed, Version: parsedVersion(version), Package: testenv.Package(pkg), Hashes: hashes}
	}
	const vpc = "git::https://github.com/Acme/terraform-aws-vpc.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
	b := newBill()
	b.add(&installer.Result{Modules: []installer.Module{
		module("app", "./app", "", ""),
		module("app.vpc", "acme/vpc/aws", "3.1.0", vpc),
		module("vpc", "acme/vpc/aws//modules/a", "3.1.0", vpc, "h1:x", "t1:y"),
		module("vpc.inner", "../b", "", ""),
		module("vpc.inner.zip", "https://u:p@example.com/x.zip?token=t", "", "https://example.com/x.zip", "h1:z", "zh:0123"),
	}, Providers: []installer.Provider{{
		Address: addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "hashicorp", Type: "null"}, Version: versions.MustParse("3.2.1"), Hashes: []hashing.Hash{"h1:p"},
		RequiredBy: []installer.ProviderRequirement{{}, {Path: addrs.Module{"vpc", "inner"}}},
	}}}, rootRef, "")
	var text bytes.Buffer
	testenv.Must(t, encodeBOM(&text, b.document("infra")))
	var got cyclonedx.BOM
	testenv.Must(t, cyclonedx.NewBOMDecoder(&text, cyclonedx.BOMFileFormatJSON).Decode(&got))
	const vpcRef, nullRef = vpc + "#3.1.0", "registry.opentofu.org/hashicorp/null#3.2.1"
	var refs, urls []string
	for _, c := range *got.Components {
		refs, urls = append(refs, c.BOMRef), append(urls, c.PackageURL)
	}
	if diff := cmp.Diff([]string{vpcRef, "https://example.com/x.zip", nullRef}, refs); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	want := []string{
		"pkg:github/acme/terraform-aws-vpc@7c1f791efd61f326ed6102d564d1a65d1eceedf0",
		"pkg:generic/x.zip?download_url=https%3A%2F%2Fexample.com%2Fx.zip",
		"pkg:terraform/hashicorp/null@3.2.1?repository_url=registry.opentofu.org",
	}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("package URLs (-want +got):\n%s", diff)
	}
	first := (*got.Components)[0]
	if first.Group != "registry.opentofu.org/acme" || first.Name != "vpc/aws" || first.Version != "3.1.0" {
		t.Errorf("the component is %q %q %q", first.Group, first.Name, first.Version)
	}
	graph := map[string][]string{}
	for _, d := range *got.Dependencies {
		graph[d.Ref] = nil
		if d.Dependencies != nil {
			graph[d.Ref] = *d.Dependencies
		}
	}
	wantGraph := map[string][]string{rootRef: {vpcRef, nullRef}, vpcRef: {"https://example.com/x.zip", nullRef}, nullRef: nil, "https://example.com/x.zip": nil}
	if diff := cmp.Diff(wantGraph, graph); diff != "" {
		t.Errorf("what calls what (-want +got):\n%s", diff)
	}
}

// parsedVersion returns a version, or the zero Version for "".
func parsedVersion(text string) versions.Version {
	version, _ := versions.Parse(text)
	return version
}
