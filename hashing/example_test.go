package hashing_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

func ExampleFS() {
	module := fstest.MapFS{"main.tf": {Data: []byte("output \"id\" {\n  value = 1\n}\n")}}
	hash, err := hashing.FS(module)
	fmt.Println(hash, err)
	// Output:
	// h1:MBhFPVgHbB6XdA1KIVv0afYlf2O2kwIxRHDo61C24gk= <nil>
}

func ExampleDiff() {
	installed := fstest.MapFS{"main.tf": {Data: []byte("# 1")}, "run.sh": {Mode: 0o755}}
	locked, err := hashing.ReadTree(context.Background(), installed)
	if err != nil {
		fmt.Println(err)
		return
	}
	sums, err := locked.MarshalText() // to be stored
	if err != nil {
		fmt.Println(err)
		return
	}

	installed["main.tf"] = &fstest.MapFile{Data: []byte("# 2")}
	installed["extra.tf"] = &fstest.MapFile{}
	want, err := hashing.ParseTree(sums)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := hashing.ReadTree(context.Background(), installed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(want.T1() == got.T1())
	fmt.Printf("%+v\n", hashing.Diff(want, got))
	// Output:
	// false
	// {Changed:[main.tf] Vanished:[] Added:[extra.tf]}
}
