// Package report writes down what the benchmark of whole commands measured: a
// table for each world, which goals were met, and how to read and repeat it.
//
// It measures nothing and reads nothing: [Markdown] makes a text of a
// [Document], the same text in every run.
package report
