package graph

import (
	"fmt"
	"html"
	"strings"
)

// Sizes in pixels. A character's width is an upper bound for the usual fonts.
const (
	charWidth  = 7.4
	lineHeight = 17
	boxPadding = 10
	boxGap     = 12
	columnGap  = 44
	margin     = 20
	maxColumns = 48 // maximum width of a line in the box of a module
	maxWide    = 96 // maximum width of a line in the box of a provider, which stands alone in its row
)

// svgStyle has the colors for a light and for a dark background.
const svgStyle = `
.page{fill:#fff}
.box{fill:#f6f8fa;stroke:#afb8c1;stroke-width:1.2}
.edge{fill:none;stroke:#afb8c1;stroke-width:1.2}
text{fill:#1f2328;font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.name{font-weight:bold}
.source{fill:#59636e}
.bad{stroke:#d1242f;stroke-width:2}.note{stroke:#9a6700;stroke-width:2}.new{stroke:#1a7f37;stroke-width:2}.gone{stroke:#8250df;stroke-width:2;stroke-dasharray:5 3}
text.bad{fill:#d1242f;stroke:none}text.note{fill:#9a6700;stroke:none}text.new{fill:#1a7f37;stroke:none}text.gone{fill:#8250df;stroke:none}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117}
.box{fill:#161b22;stroke:#3d444d}
.edge{stroke:#3d444d}
text{fill:#e6edf3}
.source{fill:#9198a1}
.bad{stroke:#ff7b72}.note{stroke:#e3b341}.new{stroke:#56d364}.gone{stroke:#d2a8ff}
text.bad{fill:#ff7b72}text.note{fill:#e3b341}text.new{fill:#56d364}text.gone{fill:#d2a8ff}
}
`

// SVG returns the tree as a picture, from left to right.
func (g Graph) SVG() string {
	t := g.tree()
	root := box{most: maxColumns, lines: []line{{"name", t.heading()}}, title: t.heading(), below: boxesOf(t.roots)}
	for part := range strings.SplitSeq(t.summary(), "; ") {
		root.lines = append(root.lines, line{"source", part})
	}
	drawing := drawing{widths: map[int]float64{}}
	drawing.measure(&root, 0)
	height := drawing.position(&root, 0, margin)
	width := drawing.right(&root)
	var providers []box
	y := margin + height
	for _, provider := range t.Providers {
		b := providerBox(provider)
		if len(providers) == 0 {
			y += boxGap * 2
		}
		b.x, b.y = margin, y
		b.width = b.textWidth()
		y += b.height() + boxGap
		width = max(width, b.x+b.width)
		providers = append(providers, b)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title desc">
<title id="title">Modules of %[3]s</title>
<desc id="desc">%[4]s</desc>
<style>%[5]s</style>
<rect class="page" width="100%%" height="100%%"/>
`, int(width)+margin, int(y)+margin, html.EscapeString(t.heading()), html.EscapeString(t.summary()), svgStyle)
	root.draw(&out)
	for i := range providers {
		providers[i].draw(&out)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// line is a line of text in a box.
type line struct{ class, text string }

// box is a module or a provider in the picture.
type box struct {
	lines []line
	most  int // the maximum width of a line
	title string
	class string
	below []*box

	x, y, width float64
}

func boxesOf(nodes []*node) []*box {
	var boxes []*box
	for _, n := range nodes {
		b := &box{most: maxColumns, title: join(n.Key, n.Source, n.Version), class: kindOf(n.Marks).tone()}
		b.lines = []line{{"name", join(n.name, n.Version, n.number())}}
		if n.Source != "" {
			b.lines = append(b.lines, line{"source", n.Source})
		}
		b.lines = append(b.lines, linesOf(n.Marks)...)
		b.below = boxesOf(n.children)
		boxes = append(boxes, b)
	}
	return boxes
}

func providerBox(p Provider) box {
	b := box{most: maxWide, title: join("provider", p.Name, p.Version), class: kindOf(p.Marks).tone()}
	b.lines = []line{{"name", join("provider", p.Name, p.Version)}}
	if len(p.RequiredBy) > 0 {
		b.lines = append(b.lines, line{"source", "required by " + requiredIn(p.RequiredBy)})
	}
	b.lines = append(b.lines, linesOf(p.Marks)...)
	return b
}

func linesOf(marks []Mark) []line {
	lines := make([]line, len(marks))
	for i, m := range marks {
		lines[i] = line{m.Kind.tone(), m.String()}
	}
	return lines
}

func (b *box) height() float64 { return float64(len(b.lines)*lineHeight) + boxPadding }

// middle returns the vertical position at which edges meet the box.
func (b *box) middle() float64 { return b.y + b.height()/2 }

func (b *box) textWidth() float64 {
	widest := 0
	for _, l := range b.lines {
		widest = max(widest, columns(shorten(l.text, b.most)))
	}
	return float64(widest)*charWidth + 2*boxPadding
}

// drawing computes the positions of boxes.
type drawing struct {
	// widths are the widths of the columns by depth in the tree.
	widths map[int]float64
}

func (d *drawing) measure(b *box, depth int) {
	b.width = b.textWidth()
	d.widths[depth] = max(d.widths[depth], b.width)
	for _, child := range b.below {
		d.measure(child, depth+1)
	}
}

// position places a box and its descendants below y, and returns the height that they need. A box
// is centered on its children.
func (d *drawing) position(b *box, depth int, y float64) float64 {
	b.x = margin
	for above := range depth {
		b.x += d.widths[above] + columnGap
	}
	below := 0.0
	for i, child := range b.below {
		if i > 0 {
			below += boxGap
		}
		below += d.position(child, depth+1, y+below)
	}
	own := b.height()
	if own > below {
		for _, child := range b.below {
			child.shift((own - below) / 2)
		}
		b.y = y
		return own
	}
	middle := (b.below[0].middle() + b.below[len(b.below)-1].middle()) / 2
	b.y = min(max(middle-own/2, y), y+below-own) // keep out of the space of its neighbors
	return below
}

func (b *box) shift(by float64) {
	b.y += by
	for _, child := range b.below {
		child.shift(by)
	}
}

// right returns the right end of the tree.
func (d *drawing) right(b *box) float64 {
	end := b.x + b.width
	for _, child := range b.below {
		end = max(end, d.right(child))
	}
	return end
}

// draw draws the edges from a box, the box itself, and its descendants.
func (b *box) draw(out *strings.Builder) {
	for _, child := range b.below {
		from, to := b.x+b.width, child.x
		fmt.Fprintf(out, "<path class=\"edge\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n",
			from, b.middle(), to-columnGap/2, b.middle(), to-columnGap/2, child.middle(), to, child.middle())
	}
	class := join("box", b.class)
	fmt.Fprintf(out, "<g><title>%s</title><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\"/>",
		html.EscapeString(b.title), class, b.x, b.y, b.width, b.height())
	for i, l := range b.lines {
		fmt.Fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>",
			l.class, b.x+boxPadding, b.y+float64((i+1)*lineHeight)+1, html.EscapeString(shorten(l.text, b.most)))
	}
	out.WriteString("</g>\n")
	for _, child := range b.below {
		child.draw(out)
	}
}

// columns returns the width of a text in terminal columns. East Asian characters and pictographs
// take two columns.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 {
		return 2
	}
	return 1
}

// shorten replaces the middle of a text with "…" if the text is too wide.
func shorten(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	runes := []rune(text)
	room := (most - 1) / 2
	head, tail := 0, len(runes)
	for used := 0; used+columnsOf(runes[head]) <= room; head++ {
		used += columnsOf(runes[head])
	}
	for used := 0; used+columnsOf(runes[tail-1]) <= room; tail-- {
		used += columnsOf(runes[tail-1])
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}
