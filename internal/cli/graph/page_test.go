package graph_test

import (
	"fmt"
	"testing"

	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Expressions that return what the page shows.
const (
	// shown returns the names of the visible modules, in order.
	shown = `[...document.querySelectorAll('[role=treeitem]')].filter((li) => li.checkVisibility()).map((li) => li.querySelector('.name').textContent).join(' ')`
	// focused returns the name of the focused module if it is also the selected one.
	focused    = `document.activeElement.matches('[role=treeitem][aria-selected=true]') ? document.activeElement.querySelector('.name').textContent : document.activeElement.tagName`
	details    = `document.querySelector('.details').innerText`
	background = `getComputedStyle(document.body).backgroundColor`
)

// pageStep is a user's action on a page, with the expected result.
type pageStep struct {
	keys []string
	// click is the selector of an element to click, or "".
	click      string
	expression string
	want       string
}

// TestPage operates the page in a browser by its keys and checks the console.
func TestPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	b.size(t, 1200, 760)
	b.scheme(t, "light")
	t.Run("keys", func(t *testing.T) { testKeys(t, b) })
	t.Run("filters", func(t *testing.T) { testFilters(t, b) })
	t.Run("difference", func(t *testing.T) { testDifference(t, b) })
	t.Run("large", func(t *testing.T) { testLarge(t, b) })
	t.Run("hostile", func(t *testing.T) { testHostilePage(t, b) })
}

func openPage(t *testing.T, b *browser, g graph.Graph) {
	t.Helper()
	page, err := g.HTML()
	testenv.Must(t, err)
	b.open(t, "page.html", page)
}

// do performs the steps and fails if the page does not show the expected result.
func do(t *testing.T, b *browser, steps []pageStep) {
	t.Helper()
	for i, step := range steps {
		b.press(t, step.keys...)
		if step.click != "" {
			b.eval(t, `document.querySelector('`+step.click+`').click()`)
		}
		if got := b.eval(t, step.expression); got != step.want {
			t.Errorf("step %d, keys %q, click %q: the page shows\n%s\nwant\n%s", i, step.keys, step.click, got, step.want)
		}
	}
	b.check(t)
}

func testKeys(t *testing.T, b *browser) {
	openPage(t, b, example())
	do(t, b, []pageStep{
		{expression: shown, want: "infra app network subnets app-tags dns legacy network subnets queue"},
		{expression: focused, want: "BODY"},
		{keys: []string{"Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab"}, expression: focused, want: "infra"},
		{keys: []string{"ArrowDown", "ArrowDown"}, expression: focused, want: "network"},
		{expression: details, want: "app.network\nSource\nregistry.example.com/acme/network/aws\nVersion\n1.2.3\nAllowed versions\nany: the call has no constraint\nPackage\ngit::https://git.example.com/network.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0\nCalled in\napp/main.tf:3\nSame package\nnetwork\nCalls\napp.network.subnets\nRequires\nacme/cloud 2.1.4\n>= 2.0  .terraform/modules/app.network/main.tf:2"},
		{keys: []string{"ArrowLeft"}, expression: shown, want: "infra app network app-tags dns legacy network subnets queue"},
		{keys: []string{"ArrowLeft"}, expression: focused, want: "app"},
		{keys: []string{"ArrowLeft"}, expression: shown, want: "infra app app-tags dns legacy network subnets queue"},
		{keys: []string{"*"}, expression: shown, want: "infra app network app-tags dns legacy network subnets queue"},
		{keys: []string{"ArrowRight"}, expression: focused, want: "network"},
		{keys: []string{"Enter"}, expression: shown, want: "infra app network subnets app-tags dns legacy network subnets queue"},
		{keys: []string{"End"}, expression: focused, want: "queue"},
		{keys: []string{"Home"}, expression: focused, want: "infra"},
		{keys: []string{"ArrowUp"}, expression: focused, want: "infra"},
		{keys: []string{"d"}, expression: focused, want: "dns"},
		{keys: []string{" "}, expression: focused, want: "dns"},
		{keys: []string{"/"}, expression: focused, want: "INPUT"},
		{keys: []string{"s", "u", "b"}, expression: shown, want: "infra app network subnets network subnets"},
		{expression: `document.querySelector('[role=status]').textContent`, want: " · showing 2 of 9"},
	})
	do(t, b, []pageStep{
		{click: ".providers td button", expression: details, want: "provider acme/cloud\nMarks\nupdated: 2.1.3 -> 2.1.4\nVersion\n2.1.4\nAllowed by all modules\n>= 2.0.0, ~> 2.1\nRequired by\ninfra\n~> 2.1  main.tf:30\napp.network\n>= 2.0  .terraform/modules/app.network/main.tf:2\nnetwork\nany version  .terraform/modules/network/main.tf:9"},
	})
	do(t, b, []pageStep{
		{click: ".details .use:last-of-type button", expression: `document.querySelector('.details h2').textContent`, want: "network"},
		{expression: details, want: "network\nSource\nregistry.example.com/acme/network/aws\nVersion\n1.2.3\nAllowed versions\n~> 1.2\nPackage\ngit::https://git.example.com/network.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0\nCalled in\nmain.tf:18\nSame package\napp.network\nCalls\nnetwork.subnets\nRequires\nacme/cloud 2.1.4\nany version  .terraform/modules/network/main.tf:9"},
		{click: ".details .use button", expression: `document.querySelector('.details h2').textContent`, want: "provider acme/cloud"},
	})
	do(t, b, []pageStep{
		{keys: []string{"/", "ArrowDown"}, expression: focused, want: "subnets"},
		{keys: []string{"/", "Escape"}, expression: shown, want: "infra app network subnets app-tags dns legacy network subnets queue"},
		{expression: focused, want: "subnets"},
	})
}

func testFilters(t *testing.T, b *browser) {
	openPage(t, b, example())
	do(t, b, []pageStep{
		{click: "button[data-kind=version]", expression: shown, want: "infra app-tags dns"},
		{click: "button[data-kind=shared]", expression: shown, want: "infra app network app-tags dns network"},
		{click: "button[data-kind=version]", expression: shown, want: "infra app network network"},
		{click: "button[data-kind=shared]", expression: shown, want: "infra app network subnets app-tags dns legacy network subnets queue"},
		{click: ".bar button:nth-last-of-type(2)", expression: shown, want: "infra app app-tags dns legacy network queue"},
		{click: ".bar button:nth-last-of-type(3)", expression: shown, want: "infra app network subnets app-tags dns legacy network subnets queue"},
		{click: "li li li .fold", expression: shown, want: "infra app network app-tags dns legacy network subnets queue"},
		{click: ".details button", expression: `document.querySelector('.details h2').textContent`, want: "network"},
		{expression: background, want: "rgb(255, 255, 255)"},
		{click: ".bar button:nth-last-of-type(1)", expression: background, want: "rgb(255, 255, 255)"},
		{click: ".bar button:nth-last-of-type(1)", expression: background, want: "rgb(13, 17, 23)"},
	})
	b.scheme(t, "dark")
	do(t, b, []pageStep{{click: ".bar button:nth-last-of-type(1)", expression: background, want: "rgb(13, 17, 23)"}})
	b.size(t, 420, 760)
	do(t, b, []pageStep{{expression: `document.documentElement.scrollWidth <= innerWidth`, want: "true"},
		// No version and no provider is broken between two lines.
		{expression: `[...document.querySelectorAll('.version, .providers td button, .providers td:nth-child(2)')].every((each) => each.getClientRects().length < 2 && each.getBoundingClientRect().height < 40)`, want: "true"}})
	b.size(t, 1200, 760)
	b.scheme(t, "light")
}

func testDifference(t *testing.T, b *browser) {
	openPage(t, b, difference())
	do(t, b, []pageStep{
		{expression: `document.querySelector('.compared').textContent`, want: "v1.4.0 → .terraform.lock.hcl"},
		{expression: shown, want: "infra added archive gone network zone same"},
		{click: "button[data-kind=removed]", expression: shown, want: "infra gone"},
	})
}

// testLarge opens the page of 66 modules: six teams, each with ten services.
func testLarge(t *testing.T, b *browser) {
	g := graph.Graph{Title: "infra"}
	for _, team := range []string{"team10", "team1", "team2", "team9", "team02", "team"} {
		g.Modules = append(g.Modules, graph.Module{Key: team, Source: "./" + team})
		for service := range 10 {
			g.Modules = append(g.Modules, graph.Module{Key: fmt.Sprintf("%s.service%d", team, service), Source: "registry.example.com/acme/service/aws", Package: "https://archives.example.com/service.zip"})
		}
	}
	const folded = "infra team team1 team02 team2 team9 team10"
	openPage(t, b, g)
	do(t, b, []pageStep{
		{expression: shown, want: folded},
		{expression: `document.querySelector('.keys').innerText`, want: "Modules with the same number, such as #1, use one package, which is fetched once. The filter “shared” shows only these."},
		{keys: []string{"/", "e", "9"}, expression: shown, want: "infra team service9 team1 service9 team02 service9 team2 service9 team9 service9 team10 service9"},
		{keys: []string{"Escape"}, expression: shown, want: folded},
		{keys: []string{"/", "2", ".", "s", "e", "r", "v", "i", "c", "e", "7", "Enter"}, expression: focused, want: "service7"},
		{keys: []string{"/", "Escape"}, expression: shown, want: "infra team team1 team02 service0 service1 service2 service3 service4 service5 service6 service7 service8 service9 team2 team9 team10"},
		{keys: []string{"Home", "*", "End"}, expression: focused, want: "team10"},
		{keys: []string{"ArrowRight", "ArrowRight"}, expression: focused, want: "service0"},
	})
	g.Modules[1].Marks = []graph.Mark{{Kind: graph.Updated, Text: "1.0.0 -> 1.1.0"}}
	openPage(t, b, g)
	do(t, b, []pageStep{{expression: shown, want: "infra team team1 team02 team2 team9 team10 service0 service1 service2 service3 service4 service5 service6 service7 service8 service9"}})
}

// testHostilePage opens a page with texts that would be markup or script.
func testHostilePage(t *testing.T, b *browser) {
	g := hostile()
	openPage(t, b, g)
	do(t, b, []pageStep{
		{keys: []string{"/", "<", "s", "c"}, expression: `typeof hacked`, want: "undefined"},
		{expression: `document.querySelectorAll('script').length`, want: "2"},
		{expression: `document.querySelectorAll('img, iframe, object, a, link, svg').length`, want: "0"},
		{keys: []string{"Escape"}, expression: `document.querySelectorAll('[role=treeitem]').length`, want: "22"},
		{expression: `[...document.querySelectorAll('[role=treeitem]')].every((li) => { li.querySelector('.row').click(); return document.querySelector('.details h2').textContent !== ''; })`, want: "true"},
		{expression: `typeof hacked`, want: "undefined"},
	})
	// Even if a script got into the page, it would not run, because the policy allows only the
	// hash of the page's own script.
	b.eval(t, `{ const s = document.createElement('script'); s.textContent = 'hacked = 1'; document.body.append(s); }`)
	if got := b.eval(t, `typeof hacked`); got != "undefined" || len(b.complaints) == 0 {
		t.Errorf("a foreign script has run: %s, %q", got, b.complaints)
	}
}
