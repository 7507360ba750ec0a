package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"
)

// The sarif types are the parts of SARIF 2.1.0 that verify writes. Their fields have the names
// in the standard:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool            `json:"tool"`
	Bases       map[string]sarifBase `json:"originalUriBaseIds"`
	Invocations []sarifInvocation    `json:"invocations"`
	Results     []sarifResult        `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Short   sarifText  `json:"shortDescription"`
	Full    sarifText  `json:"fullDescription"`
	Help    sarifText  `json:"help"`
	Default sarifLevel `json:"defaultConfiguration"`
	// Properties are properties that GitHub reads.
	Properties map[string]any `json:"properties"`
}

type sarifLevel struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifBase struct {
	Description sarifText `json:"description"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// sarifRoot is the base of all file addresses: the root of the repository.
const sarifRoot = "%SRCROOT%"

// sarifURI returns the address of a file relative to sarifRoot. path has slashes.
func sarifURI(path string) string {
	return (&url.URL{Path: path}).String()
}

// writeSARIF writes a file with one run that has the results and failures.
func writeSARIF(name string, results []sarifResult, failures []sarifNotification) (err error) {
	log := sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs: []sarifRun{{
			Tool:        sarifTool{sarifDriver{"Cotter", version(), "https://github.com/cotterpin/cotter", sarifRules()}},
			Bases:       map[string]sarifBase{sarifRoot: {sarifText{"The root of the repository."}}},
			Invocations: []sarifInvocation{{len(failures) == 0, failures}},
			Results:     append([]sarifResult{}, results...),
		}},
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(log); err != nil {
		return err
	}
	_, err = file.WriteString(escapeJSON(text.String()))
	return err
}
