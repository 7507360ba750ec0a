
"use strict";
// The page is built from the data in the element "data". Text becomes text nodes only.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tones = new Map(data.kinds.map(({ kind, tone }) => [kind, tone]));

  // element makes an element with attributes and children, which are elements or texts.
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // breakable are the parts of an address, which can be broken after slashes.
  function breakable(text) {
    return text.split(/(?<=\/)/).flatMap((part, i) => (i ? [element("wbr"), part] : [part]));
  }

  // The tree. Item 0 is the root module, so a module's item is its index plus 1.
  const items = [];

  function addItem(module, parent) {
    const item = { module, parent, children: [], texts: [], shown: true };
    item.fold = element("span", { class: "fold", "aria-hidden": "true" });
    const texts = element("span", { class: "texts" });
    item.row = element("div", { class: "row" }, item.fold, texts);
    const text = (name, value) => {
      if (!value) return;
      const span = element("span", { class: name }, ...breakable(value));
      item.texts.push({ span, value });
      texts.append(span);
    };
    text("name", module.name);
    text("source", module.source);
    text("version", module.version);
    if (module.shared) texts.append(element("span", { class: "badge", title: "modules with #" + module.shared + " use one package" }, "#" + module.shared));
    for (const mark of module.marks || []) texts.append(badge(mark));
    item.li = element("li", { role: "treeitem", tabindex: "-1", "aria-selected": "false", "aria-level": parent ? level(parent) + 1 : 1 }, item.row);
    if (module.marks && module.marks.length) item.li.dataset.kind = module.marks[0].kind;
    item.kinds = new Set((module.marks || []).map((mark) => mark.kind));
    if (module.shared) item.kinds.add("shared");
    items.push(item);
    if (parent) {
      if (!parent.group) {
        parent.group = element("ul", { role: "group" });
        parent.li.append(parent.group);
        setExpanded(parent, true);
      }
      parent.group.append(item.li);
      parent.children.push(item);
    }
    item.row.addEventListener("click", (event) => {
      if (event.target === item.fold && item.group) setExpanded(item, !expanded(item));
      select(item);
      item.li.focus();
    });
    return item;
  }

  function badge(mark) {
    return element("span", { class: "badge", "data-tone": tones.get(mark.kind) || "" }, mark.text);
  }

  function level(item) { return Number(item.li.getAttribute("aria-level")); }
  function expanded(item) { return item.li.getAttribute("aria-expanded") === "true"; }
  function setExpanded(item, on) {
    if (!item.group) return;
    item.li.setAttribute("aria-expanded", String(on));
    item.fold.textContent = on ? "▾" : "▸";
  }
  function expandTo(item) {
    for (let above = item.parent; above; above = above.parent) setExpanded(above, true);
  }

  const tree = element("ul", { role: "tree", "aria-label": "Modules" });
  const root = addItem({ key: "", name: data.title, marks: [] }, null);
  for (const module of data.modules) addItem(module, items[module.parent + 1]);
  tree.append(root.li);

  // What is selected, and its details.
  let selected = null;
  const details = element("section", { class: "details", "aria-label": "Details", "aria-live": "polite" });

  function select(item) {
    if (selected) {
      selected.li.setAttribute("aria-selected", "false");
      selected.li.tabIndex = -1;
    }
    selected = item;
    item.li.setAttribute("aria-selected", "true");
    item.li.tabIndex = 0;
    const same = inSamePackage(item);
    for (const each of items) each.li.classList.toggle("same", same.includes(each));
    showDetails(item, same);
  }

  // inSamePackage are the items with the same package, if there are others than this one.
  function inSamePackage(item) {
    const ids = item.module.shared ? data.packages[item.module.shared - 1] : [];
    return ids.map((id) => items[id + 1]);
  }

  // show replaces the details. facts are pairs of a name and a list of elements or texts; those
  // without a value are left out.
  function show(title, facts) {
    const list = element("dl");
    for (const [name, values] of facts) {
      if (values.some((value) => value)) list.append(element("dt", {}, name), element("dd", {}, ...values.filter((value) => value)));
    }
    details.replaceChildren(element("h2", {}, title), list);
  }

  function marksOf(marked) {
    return (marked.marks || []).map((mark) => element("div", { "data-tone": tones.get(mark.kind) || "" }, mark.text));
  }

  function showDetails(item, same) {
    const module = item.module;
    const required = data.providers.filter((provider) => usesOf(provider, module.key).length);
    show(module.key || data.title, [
      ["Marks", marksOf(module)],
      ["Source", breakable(module.source || "")],
      ["Version", [module.version]],
      ["Allowed versions", [module.version && (module.constraint || "any: the call has no constraint")]],
      ["Package", breakable(module.package || "")],
      ["Called in", breakable(module.place || "")],
      ["Directory", breakable(module.dir || "")],
      ["Evidence", [module.confirmed]],
      ["Same package", same.filter((other) => other !== item).map(link)],
      ["Calls", item.children.map(link)],
      ["Requires", required.map((provider) => use(providerLink(provider), usesOf(provider, module.key)))],
    ]);
  }

  // showProvider shows which modules require a provider, and which versions they allow.
  function showProvider(provider) {
    const required = users(provider).map((key) => {
      const item = items.find((each) => each.module.key === key);
      return use(item ? link(item) : element("div", {}, key), usesOf(provider, key));
    });
    show("provider " + provider.name, [
      ["Marks", marksOf(provider)],
      ["Version", [provider.version]],
      ["Evidence", [provider.confirmed]],
      ["Allowed by all modules", [provider.version && required.length > 0 && (provider.constraints || "any: no module has a constraint")]],
      ["Required by", required],
    ]);
    details.scrollIntoView({ block: "nearest" });
  }

  function usesOf(provider, key) {
    return (provider.uses || []).filter((each) => each.key === key);
  }

  // users are the keys of the modules that require a provider.
  function users(provider) { return [...new Set((provider.uses || []).map((each) => each.key))]; }

  // use is a link followed by the places of the requirements, with their constraints.
  function use(target, uses) {
    return element("div", { class: "use" }, target, ...uses.map((each) => element("div", { class: "place" },
      each.constraint || "any version", "  ", ...breakable(each.place || each.by || ""))));
  }

  function providerLink(provider) {
    return button(provider.name + (provider.version ? " " + provider.version : ""), () => showProvider(provider));
  }

  function link(item) { return button(item.module.key || data.title, () => visit(item)); }

  // visit selects an item that may be folded away or filtered out.
  function visit(item) {
    if (!item.shown) reset();
    expandTo(item);
    select(item);
    item.li.focus();
    item.row.scrollIntoView({ block: "nearest" });
  }

  // Search and filters: what matches is shown with all that is above it. Afterwards, the tree is folded as before.
  const search = element("input", { type: "search", placeholder: "Search  ( / )", "aria-label": "Search modules", autocomplete: "off", spellcheck: "false" });
  const counted = element("span", { class: "count", role: "status" });
  const chips = [];
  let before = null; // the items that were expanded before a search or filter

  function chip(kind, word) {
    const n = items.filter((item) => item.kinds.has(kind)).length;
    if (!n) return;
    const button = element("button", { type: "button", "aria-pressed": "false", "data-kind": kind }, word + " " + n);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      filter();
    });
    chips.push(button);
  }

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    const kinds = chips.filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.kind);
    const active = wanted !== "" || kinds.length > 0;
    let matches = 0;
    if (active && !before) before = new Set(items.filter(expanded));
    for (const item of items) item.shown = false;
    for (const item of items) {
      const found = wanted === "" || item.module.key.toLowerCase().includes(wanted) || item.texts.some((text) => text.value.toLowerCase().includes(wanted));
      const fits = found && (kinds.length === 0 || kinds.some((kind) => item.kinds.has(kind)));
      if (fits && item !== root) matches++;
      item.found = active && fits;
      for (let each = item; fits && each && !each.shown; each = each.parent) each.shown = true;
      for (const text of item.texts) highlight(text, wanted);
    }
    root.shown = true;
    for (const item of items) {
      item.li.hidden = !item.shown;
      if (active && item.shown) setExpanded(item, true);
      if (!active && before) setExpanded(item, before.has(item));
    }
    if (!active) before = null;
    counted.textContent = active ? " · showing " + matches + " of " + data.modules.length : "";
    if (selected && selected.li.hidden) select(root);
  }

  function highlight(text, wanted) {
    const at = wanted === "" ? -1 : text.value.toLowerCase().indexOf(wanted);
    if (at < 0) {
      text.span.replaceChildren(...breakable(text.value));
      return;
    }
    const end = at + wanted.length;
    text.span.replaceChildren(...breakable(text.value.slice(0, at)), element("mark", {}, text.value.slice(at, end)), ...breakable(text.value.slice(end)));
  }

  function reset() {
    search.value = "";
    for (const button of chips) button.setAttribute("aria-pressed", "false");
    filter();
  }

  for (const { kind, word } of data.kinds) chip(kind, word);
  chip("shared", "shared");
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      if (event.key === "Escape") reset();
      const first = items.find((item) => item !== root && item.found);
      visit(event.key === "Escape" ? selected : first || root);
    }
  });

  // Keys in the tree, as the ARIA practices for trees have them.
  function visible() {
    return items.filter((item) => {
      for (let above = item.parent; above; above = above.parent) if (!expanded(above)) return false;
      return item.shown;
    });
  }

  // expandBeside expands an item and those with the same caller.
  function expandBeside(item) {
    for (const each of item.parent ? item.parent.children : [item]) setExpanded(each, true);
  }

  // target is the item to which a key leads; a key that folds has none.
  function target(key) {
    const all = visible();
    const at = all.indexOf(selected);
    switch (key) {
      case "ArrowDown": return all[at + 1];
      case "ArrowUp": return all[at - 1];
      case "Home": return all[0];
      case "End": return all[all.length - 1];
      case "ArrowRight":
        if (expanded(selected)) return selected.children.find((child) => child.shown);
        return void setExpanded(selected, true);
      case "ArrowLeft":
        if (!expanded(selected)) return selected.parent;
        return void setExpanded(selected, false);
      case "Enter":
      case " ": return void setExpanded(selected, !expanded(selected));
      case "*": return void expandBeside(selected);
    }
    const letter = key.toLowerCase();
    return all.slice(at + 1).concat(all.slice(0, at)).find((item) => item.module.name.toLowerCase().startsWith(letter));
  }

  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "/" || event.key === "Tab") return;
    if (event.key.length > 1 && !["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End", "Enter"].includes(event.key)) return;
    event.preventDefault();
    const item = target(event.key);
    if (item) visit(item);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    }
  });

  // Buttons.
  function button(text, action) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", () => action(made));
    return made;
  }

  const themes = ["auto", "light", "dark"];
  function nextTheme(made) {
    const theme = themes[(themes.indexOf(document.documentElement.dataset.theme || "auto") + 1) % themes.length];
    document.documentElement.dataset.theme = theme;
    made.textContent = "Theme: " + theme;
  }

  function foldAll() {
    for (const item of items) setExpanded(item, item === root);
    if (selected !== root && selected.parent !== root) select(root);
  }

  const bar = element("div", { class: "bar" }, search, ...chips,
    button("Expand all", () => items.forEach((item) => setExpanded(item, true))),
    button("Fold all", foldAll),
    button("Theme: auto", nextTheme));
  document.querySelector(".summary").append(counted); // where it moves nothing

  function providerTable() {
    if (!data.providers.length) return [];
    const head = element("tr", {}, ...["Provider", "Version", "Required by", ""].map((name) => element("th", { scope: "col" }, name)));
    const rows = data.providers.map((provider) => element("tr", {},
      element("td", {}, button(provider.name, () => showProvider(provider))), element("td", {}, provider.version || ""),
      element("td", {}, users(provider).map((key) => key || "the root module").join(", ")),
      element("td", {}, ...(provider.marks || []).map(badge))));
    return [element("section", { class: "providers" }, element("h2", {}, "Providers"), element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)))];
  }

  const keys = element("p", { class: "keys" }, "Keys: / searches, arrows move and fold, Home and End go to the ends, * unfolds the modules beside this one, a letter goes to the next name.");
  const legend = element("p", { class: "keys" }, data.packages ? "Modules with the same number, such as #1, use one package, which is fetched once. The filter “shared” shows only these." : "");
  document.getElementById("app").append(bar, element("main", { class: "columns" }, element("div", {}, legend, tree, ...providerTable(), keys), details));
  select(root);

  // A large tree begins with what the root module calls, and with what has changed, if that is not large too.
  const large = 60; // modules: about two screens
  if (data.modules.length > large) {
    foldAll();
    const marked = items.filter((item) => item.kinds.size > 0 && (item.kinds.size > 1 || !item.kinds.has("shared")));
    if (marked.length <= large) marked.forEach(expandTo);
  }
})();
