package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// These are the sizes in the picture of a terminal, in pixels. The width of a character is
// an upper bound for the usual fonts.
const (
	pictureCharacter = 8.5
	pictureLine      = 20
	pictureMargin    = 16
	pictureBar       = 28
)

// terminalPicture draws the lines of a terminal as SVG, with bright commands and red errors.
func terminalPicture(lines []string) string {
	columns := 0
	for _, line := range lines {
		columns = max(columns, utf8.RuneCountInString(line))
	}
	width, height := int(float64(columns)*pictureCharacter)+2*pictureMargin, len(lines)*pictureLine+pictureBar+pictureMargin
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="A terminal: %[3]s">
<rect width="100%%" height="100%%" rx="8" fill="#16181d"/>
<circle cx="20" cy="15" r="5" fill="#ff5f57"/><circle cx="38" cy="15" r="5" fill="#febc2e"/><circle cx="56" cy="15" r="5" fill="#28c840"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
`, width, height, html.EscapeString(strings.TrimPrefix(lines[0], "$ ")))
	for i, line := range lines {
		fill := "#aab2c0"
		switch {
		case strings.HasPrefix(line, "$ "):
			fill = "#ffffff"
		case strings.HasPrefix(line, "Error"):
			fill = "#ff7b72"
		}
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", pictureMargin, pictureBar+(i+1)*pictureLine-6, fill, html.EscapeString(line))
	}
	svg.WriteString("</g>\n</svg>\n")
	return svg.String()
}
