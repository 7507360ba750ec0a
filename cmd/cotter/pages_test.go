package main

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestPages runs the commands in the pages of docs/, in the README and in the first page of the
// site, and compares their output with the output that the page shows.
//
// A fenced block of the language "console" is a terminal. Lines that begin with "$ " are
// commands for sh, and the lines below a command are its output, in which a line "..."
// stands for any number of lines. A command without output in the page has to succeed; a
// command whose output has a line that begins with "Error" has to fail. The working
// directory and the environment are kept from block to block.
//
// HTML comments, which readers do not see, control the test:
//
//	<!-- file: NAME -->       the next block is the content of this file
//	<!-- run: COMMAND -->     a command before the next block
//	<!-- world: movetag REPO TAG TEXT -->       a tag is moved to a commit with that main.tf
//	<!-- world: publish MODULE VERSION TEXT --> a registry has a version with that main.tf
//	<!-- not run: REASON -->  the next block is not run
//	<!-- picture: NAME -->    docs/NAME is a picture of the next block
//
// The servers have the content of testdata/pages/world.txtar. The pages call them
// registry.example.com and git.example.com.
func TestPages(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../docs/*.md")
	testenv.Must(t, err)
	specs, err := filepath.Glob("../../docs/spec/*.md")
	testenv.Must(t, err)
	for _, name := range slices.Concat(names, specs, []string{"../../README.md", "../../site/home.md"}) {
		text := readFile(t, name)
		blocks := pageBlocks(string(text))
		if !hasCommands(blocks) {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			page := newPage(t)
			for _, b := range blocks {
				page.do(t, b)
			}
			if *update {
				testenv.WriteFile(t, name, page.text(blocks))
			}
		})
	}
}

// pageBlock is a part of a page: the text outside fences with its directives, or the lines
// between two fences.
type pageBlock struct {
	language string
	lines    []string
	fenced   bool
}

func pageBlocks(text string) []pageBlock {
	blocks := []pageBlock{{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		last := &blocks[len(blocks)-1]
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && last.fenced:
			blocks = append(blocks, pageBlock{})
		case fence:
			blocks = append(blocks, pageBlock{language: language, fenced: true})
		default:
			last.lines = append(last.lines, line)
		}
	}
	return blocks
}

func hasCommands(blocks []pageBlock) bool {
	for _, b := range blocks {
		if b.language == "console" {
			return true
		}
	}
	return false
}

// runPage runs a page: it has the servers and the state of the terminal.
type runPage struct {
	world *modtest.World
	// dir is the project, and state has what is kept between two commands.
	dir, state string
	env        []string
	// file is the name of the file that has the next block as its content, and skip says
	// that the next block is not run.
	file string
	skip bool
	// picture is the name of the file with a picture of the next block.
	picture string
	// updated has the outputs with which the page is updated, by the lines of the block
	// above them.
	updated map[string]string
	// toWorld and toPage replace host names.
	toWorld, toPage *strings.Replacer
}

func newPage(t *testing.T) *runPage {
	t.Helper()
	text := readFile(t, "testdata/pages/world.txtar")
	world := modtest.New(t, modtest.Txtar(string(text)))
	base := t.TempDir()
	p := &runPage{world: world, dir: filepath.Join(base, "infra"), state: filepath.Join(base, "state"), updated: map[string]string{}}
	host := string(world.Host())
	p.toWorld = strings.NewReplacer("git.example.com/", host+"/git/", "registry.example.com", host)
	p.toPage = strings.NewReplacer(host+"/git/", "git.example.com/", host, "registry.example.com", p.dir, "/home/you/infra", base, "/home/you")
	home := filepath.Join(base, ".home")
	for _, dir := range []string{home, p.dir, p.state} {
		testenv.Must(t, os.Mkdir(dir, 0o755))
	}
	settings := filepath.Join(home, "cli.tfrc")
	testenv.Must(t, os.WriteFile(settings, nil, 0o644))
	p.env = append(world.Env(),
		"HOME="+home, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+bothStockTools(t), "SSL_CERT_DIR="+os.Getenv("SSL_CERT_DIR"), "TF_CLI_CONFIG_FILE="+settings, "CHECKPOINT_DISABLE=1", "NO_COLOR=1",
		"GIT_AUTHOR_NAME=you", "GIT_AUTHOR_EMAIL=you@example.com", "GIT_COMMITTER_NAME=you", "GIT_COMMITTER_EMAIL=you@example.com", "GIT_CONFIG_NOSYSTEM=1")
	return p
}

// do follows the directives in a text, writes a block that is a file, or runs the commands
// of a terminal. With -update, the block gets the output of its commands.
func (p *runPage) do(t *testing.T, b pageBlock) {
	t.Helper()
	switch {
	case !b.fenced:
		for _, line := range b.lines {
			p.direct(t, line)
		}
		return
	case p.file != "":
		name := filepath.Join(p.dir, filepath.FromSlash(p.file))
		testenv.WriteFile(t, name, p.toWorld.Replace(strings.Join(b.lines, "\n"))+"\n")
	case b.language == "console" && !p.skip:
		for _, c := range commandsOf(b.lines) {
			p.compare(t, b, c)
		}
	}
	if p.picture != "" {
		p.comparePicture(t, p.lines(b))
	}
	p.file, p.skip, p.picture = "", false, ""
}

// comparePicture compares the picture of a terminal with its text, or draws it again.
func (p *runPage) comparePicture(t *testing.T, lines []string) {
	t.Helper()
	name := filepath.Join("../../docs", p.picture)
	want := terminalPicture(lines)
	if *update {
		testenv.WriteFile(t, name, want)
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s is not the picture of its block (%v); -update draws it", name, err)
	}
}

var directive = regexp.MustCompile(`^<!-- ([a-z ]+): (.*) -->$`)

func (p *runPage) direct(t *testing.T, line string) {
	t.Helper()
	found := directive.FindStringSubmatch(line)
	if found == nil {
		return
	}
	switch found[1] {
	case "file":
		p.file = found[2]
	case "run":
		if out, err := p.sh(t, found[2]); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	case "picture":
		p.picture = found[2]
	case "not run":
		p.skip = true
	case "sample": // the next block is Go code, which examples/library compares
	case "recipe": // the next block is a file of examples/recipes, which TestRecipesInPage compares
	case "world":
		words := strings.SplitN(found[2], " ", 4)
		tree := modtest.Txtar("-- main.tf --\n" + words[3] + "\n")
		change := map[string]func() error{
			"movetag": func() error { return p.world.MoveTag(words[1], words[2], tree) },
			"publish": func() error { return p.world.PublishVersion(words[1], words[2], tree) },
		}[words[0]]
		if err := change(); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	default:
		t.Fatalf("unknown directive: %s", line)
	}
}

// pageCommand is a command in a terminal, and the lines of its output.
type pageCommand struct {
	text string
	// from and to are the range of the output in the block.
	from, to int
}

func commandsOf(lines []string) []pageCommand {
	var commands []pageCommand
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, pageCommand{text: text, from: i + 1, to: i + 1})
		} else if len(commands) > 0 {
			commands[len(commands)-1].to = i + 1
		}
	}
	return commands
}

func (p *runPage) compare(t *testing.T, b pageBlock, c pageCommand) {
	t.Helper()
	got, err := p.sh(t, c.text)
	want := strings.TrimRight(strings.Join(b.lines[c.from:c.to], "\n"), "\n")
	fails := regexp.MustCompile(`(?m)^(Error|error)`).MatchString(want)
	if (err != nil) != fails {
		t.Errorf("$ %s\n%s\nended with %v, and the page says otherwise", c.text, got, err)
		return
	}
	if want == "" || outputPattern(want).MatchString(varying(got)) {
		return
	}
	if *update {
		p.updated[strings.Join(b.lines[:c.from], "\n")] = got
		return
	}
	t.Errorf("$ %s prints something else (-page +command):\n%s", c.text, cmp.Diff(strings.Split(varying(want), "\n"), strings.Split(varying(got), "\n")))
}

// variants returns the parts of outputs that differ from run to run.
var variants = sync.OnceValue(func() []outputVariant {
	return []outputVariant{
		{regexp.MustCompile(`\b[0-9]+(\.[0-9]+)? m?s\b`), "TIME"},
		{regexp.MustCompile(`\b(h1|t1|zh):[0-9A-Za-z+/=]{43,64}`), "$1:HASH"},
		{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "COMMIT"},
		{regexp.MustCompile(`\b[0-9a-f]{7}\b`), "SHORT"},
		{regexp.MustCompile(`\b[0-9A-F]{16}\b`), "KEY"},
	}
})

// varying replaces the parts that differ from run to run.
func varying(text string) string {
	for _, v := range variants() {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

// outputPattern returns a pattern for the output that a page shows: "..." in a line stands
// for any text, and a line "..." for any number of lines.
func outputPattern(want string) *regexp.Regexp {
	var pattern strings.Builder
	for i, line := range strings.Split(varying(want), "\n") {
		switch {
		case line == "..." && i == 0:
			pattern.WriteString(`(?:[^\n]*\n)*?[^\n]*`)
		case line == "...":
			pattern.WriteString(`(?:\n[^\n]*)*?`)
		default:
			if i > 0 {
				pattern.WriteString(`\n`)
			}
			pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `[^\n]*`))
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`)
}

// sh runs a command and returns its output, with the host names and directories that the
// page uses. A line that sh would only split into words is run in a worker.
func (p *runPage) sh(t *testing.T, command string) (string, error) {
	t.Helper()
	shown := func(out string) string {
		return strings.TrimRight(p.toPage.Replace(moveCarets(out, p.toPage)), "\n")
	}
	if args, ok := strings.CutPrefix(command, "cotter "); ok && onlyWords.MatchString(args) {
		if dir, env, ok := p.terminal(t); ok {
			out, err := warm.run(dir, env, strings.Fields(p.toWorld.Replace(args))...)
			return shown(out), err
		}
	}
	script := fmt.Sprintf(`cd %[2]s
if [ -f %[1]s/env ]; then . %[1]s/env; cd "$(cat %[1]s/dir)"; fi
%[3]s
status=$?
export -p > %[1]s/env
pwd > %[1]s/dir
exit $status
`, p.state, p.dir, p.toWorld.Replace(command))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	return shown(string(out)), err
}

var (
	onlyWords = regexp.MustCompile(`^[A-Za-z0-9 ._/:=,@+-]+$`)
	// exported matches a line of export -p. Shells differ in which quotes they use.
	exported = regexp.MustCompile(`^(?:export|declare -x) (\w+)=(?:'([^'\n]*)'|"([^"\\$` + "`" + `\n]*)")\n$`)
)

// terminal returns the directory and the environment that earlier commands have left. ok is false if only sh can read
// them.
func (p *runPage) terminal(t *testing.T) (dir string, env []string, ok bool) {
	t.Helper()
	left, err := os.ReadFile(filepath.Join(p.state, "env"))
	if errors.Is(err, fs.ErrNotExist) {
		return p.dir, p.env, true
	}
	testenv.Must(t, err)
	for line := range strings.Lines(string(left)) {
		found := exported.FindStringSubmatch(line)
		if found == nil {
			return "", nil, false
		}
		env = append(env, found[1]+"="+found[2]+found[3])
	}
	return strings.TrimSuffix(string(readFile(t, filepath.Join(p.state, "dir"))), "\n"), env, true
}

var caretLine = regexp.MustCompile(`^( +\| +)(\^+)$`)

// moveCarets moves the carets below a line of source to where they belong after the host
// names in that line are replaced by shorter or longer ones.
func moveCarets(text string, replacer *strings.Replacer) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := caretLine.FindStringSubmatch(line)
		if i == 0 || m == nil || len(lines[i-1]) < len(line) {
			continue
		}
		before, marked := lines[i-1][:len(m[1])], lines[i-1][len(m[1]):len(line)]
		lines[i] = m[1] + strings.Repeat(" ", len(replacer.Replace(before))-len(before)) + strings.Repeat("^", len(replacer.Replace(marked)))
	}
	return strings.Join(lines, "\n")
}

func (p *runPage) text(blocks []pageBlock) string {
	var lines []string
	for _, b := range blocks {
		if b.fenced {
			lines = append(lines, "```"+b.language)
		}
		lines = append(lines, p.lines(b)...)
		if b.fenced {
			lines = append(lines, "```")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// lines returns the lines of a block with the updated outputs.
func (p *runPage) lines(b pageBlock) []string {
	var lines []string
	next := 0
	for _, c := range commandsOf(b.lines) {
		lines = append(lines, b.lines[next:c.from]...)
		next = c.from
		if out, ok := p.updated[strings.Join(b.lines[:c.from], "\n")]; ok {
			lines = append(lines, strings.Split(out, "\n")...)
			next = c.to
		}
	}
	return append(lines, b.lines[next:]...)
}

// These are the sizes in the picture of a terminal: its columns, and the others in pixels. The width of a character is
// an upper bound for the usual fonts. With so few columns, the text can be read on a phone.
const (
	pictureColumns   = 52
	pictureCharacter = 8.5
	pictureLine      = 20
	pictureMargin    = 16
	pictureBar       = 28
)

// terminalPicture draws the lines of a terminal as SVG, with bright commands and red errors. Its border shows where it
// ends on a page as dark as it is.
// Blanks are no-break spaces, because browsers and GitHub's filter for SVG differ in which
// attribute or style keeps the others: Chromium no longer regards xml:space.
func terminalPicture(lines []string) string {
	type shown struct{ text, fill string }
	var drawn []shown
	for _, line := range lines {
		fill := "#aab2c0"
		switch {
		case strings.HasPrefix(line, "$ "):
			fill = "#ffffff"
		case strings.HasPrefix(line, "Error"):
			fill = "#ff7b72"
		}
		for part := range strings.SplitSeq(inNarrowTerminal(line), "\n") {
			drawn = append(drawn, shown{part, fill})
		}
	}
	width, height := int(pictureColumns*pictureCharacter)+2*pictureMargin, len(drawn)*pictureLine+pictureBar+pictureMargin
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="A terminal: %[3]s">
<rect x="0.5" y="0.5" width="%[4]d" height="%[5]d" rx="8" fill="#16181d" stroke="#4b5361"/>
<circle cx="20" cy="15" r="5" fill="#ff5f57"/><circle cx="38" cy="15" r="5" fill="#febc2e"/><circle cx="56" cy="15" r="5" fill="#28c840"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">
`, width, height, html.EscapeString(strings.TrimPrefix(lines[0], "$ ")), width-1, height-1)
	for i, line := range drawn {
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", pictureMargin, pictureBar+(i+1)*pictureLine-6, line.fill, strings.ReplaceAll(html.EscapeString(line.text), " ", "\u00a0"))
	}
	svg.WriteString("</g>\n</svg>\n")
	return svg.String()
}

// inNarrowTerminal returns what the command prints instead of a line if the terminal has the picture's columns: an
// excerpt of a file is cut, and other lines are folded.
func inNarrowTerminal(line string) string {
	if !regexp.MustCompile(`^ +\d* \| `).MatchString(line) {
		return view.FoldedLines(line, pictureColumns)
	}
	if len(line) > pictureColumns && !strings.HasSuffix(line, "^") {
		return line[:pictureColumns-3] + "..."
	}
	return line[:min(len(line), pictureColumns)]
}

// TestTerminalPicture checks that no program that draws the picture can collapse its blanks, and that no line is longer
// than the picture.
func TestTerminalPicture(t *testing.T) {
	t.Parallel()
	picture := terminalPicture([]string{"$ cotter install", "Error: module dns (main.tf:2): tag v2.1.0 moved 1ba9f699385c -> f38b40497d8a", "  2 |   source = \"git::https://git.example.com/platform.git\"", "    |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"})
	for _, want := range []string{
		">$\u00a0cotter\u00a0install</text>", "tag\u00a0v2.1.0\u00a0moved</text>", ">\u00a0\u00a01ba9f699385c\u00a0-&gt;\u00a0f38b40497d8a</text>",
		">\u00a0\u00a02\u00a0|\u00a0\u00a0\u00a0source\u00a0=\u00a0&#34;git::https://git.example.com/pl...</text>",
		"|" + strings.Repeat("\u00a0", 12) + strings.Repeat("^", 35) + "</text>",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture does not have %q:\n%s", want, picture)
		}
	}
}
