module github.com/cotterpin/cotter/integration/opentofu

go 1.26.5

toolchain go1.26.8
