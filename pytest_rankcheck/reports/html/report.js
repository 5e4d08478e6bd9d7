"use strict";
// Foreign text is only ever put in with textContent; nothing here builds HTML from strings.
(() => {
  const parsed = (id) => JSON.parse(document.getElementById(id).textContent);
  const report = parsed("report-data"), { shared, charts } = parsed("report-charts");
  const at = (id) => document.getElementById(id);
  const PAGE = 50, BARS = 200, EQUAL = 1e-6;

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in made) made[key] = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }
  const number = (value, digits = 4) => value === null || value === undefined ? "–" : value.toFixed(digits);
  const signed = (value) => value === null ? "–" : (value < 0 ? "" : "+") + value.toFixed(4);

  async function draw(place, name, rows, datasets = {}) {
    if (!place) return;
    if (!rows.length) { place.replaceChildren(element("p", { className: "mark" }, "nothing to show")); return; }
    const spec = { ...shared, ...charts[name], datasets: { table: rows, ...datasets } };
    if (spec.height.step) spec.height = spec.height.step * rows.length;
    const axis = { ...shared.config.axis, labelLimit: Math.min(240, 0.4 * place.clientWidth) };
    spec.config = { ...shared.config, axis };
    const wanted = place.drawing = Symbol();
    const host = element("div", { className: "chart" });
    host.style.width = `${Math.max(200, place.clientWidth)}px`;
    if (place.drawing === wanted) place.replaceChildren(host);
    // The page allows neither eval nor foreign styles: expressions are interpreted, and report.css has the styles.
    await vegaEmbed(host, spec, { actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } });
  }

  // --- verdicts and slices ---
  const side = (gate) => gate.higher_is_better ? 1 : -1;
  function kindOf(gate, decision) {
    if (decision.outcome === "regressed" || decision.outcome === "failed") return "worse";
    if (decision.outcome === "inconclusive") return "unsure";
    const sure = decision.interval && decision.interval.every((end) => side(gate) * end > 0);
    return decision.outcome === "better" && sure ? "better" : "same";
  }
  // Where a rule decides: at its margin, or without a test at what it allows; a test alone has no fixed place.
  function limit(gate, decision) {
    const fall = gate.margin ?? (decision.p === null ? decision.allowed : null);
    return fall === null ? null : -side(gate) * fall;
  }
  function interval(gate, decision, label) {
    const [low, high] = decision.interval || [decision.difference, decision.difference], allowed = limit(gate, decision);
    return {
      label, low, high, kind: kindOf(gate, decision), outcome: decision.outcome,
      before: decision.before, now: decision.now, difference: decision.difference,
      queries: decision.queries, allowed: allowed ?? 0, fixed: allowed !== null,
    };
  }
  const zero = { zero: [{ zero: 0 }] };
  const compared = report.gates.filter((gate) => gate.overall.difference !== undefined && gate.overall.difference !== null);
  if (compared.length) {
    at("gates-figure").hidden = false;
    const counts = new Map();
    draw(at("chart-gates"), "intervals", compared.map((gate) => {
      const slice = gate.slice ? `[${gate.slice}]` : "";
      const name = `${gate.metric}${slice}, ${gate.test.split("::").pop()}`, count = (counts.get(name) || 0) + 1;
      counts.set(name, count);
      return interval(gate, gate.overall, count > 1 ? `${name} (${count})` : name);
    }), zero);
  }
  for (const place of document.querySelectorAll("[data-slices]")) {
    const gate = report.gates[Number(place.dataset.slices)];
    const worst = [...gate.slices].sort((a, b) => side(gate) * (a.difference - b.difference));
    draw(place, "intervals", worst.map((part) => interval(gate, part, part.label)), zero);
  }

  // --- history ---
  const steps = [];
  for (const gate of report.gates) {
    for (const approval of gate.approvals || []) {
      const means = approval.keys.find((key) => key.name === `fall:${gate.metric}`);
      if (!means) continue;
      const metric = `${gate.metric} · ${gate.golden_set}`;
      steps.push({ date: approval.date, metric, mean: means.before, reason: "before" });
      steps.push({ date: approval.date, metric, mean: means.after, reason: approval.reason });
    }
    if ((gate.approvals || []).length && gate.now !== null) {
      steps.push({ date: report.created, metric: `${gate.metric} · ${gate.golden_set}`, mean: gate.now, reason: "now" });
    }
  }
  if (at("chart-history")) draw(at("chart-history"), "history", steps);

  // --- queries ---
  const state = { measurement: null, metric: "", sort: "change", ascending: true, shown: PAGE, open: new Set() };

  function options(select, pairs) {
    select.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
  }
  report.measurements.forEach((measurement, place) => { measurement.place = place; });
  options(at("measurement"), report.measurements.map((measurement) => [String(measurement.place), `${measurement.golden_set.name} (${measurement.queries.length} ${measurement.unit}${measurement.queries.some((q) => q.before) ? "" : ", no baseline"})`]));

  function chooseMeasurement() {
    state.measurement = report.measurements[Number(at("measurement").value || 0)];
    const names = Object.keys(state.measurement.metrics);
    options(at("metric"), names.map((name) => [name, name]));
    const failed = report.gates.find((gate) => gate.failed && gate.measurement === state.measurement.key && names.includes(gate.metric));
    if (failed) at("metric").value = failed.metric;
    const values = new Map();
    for (const query of state.measurement.queries) {
      for (const [name, value] of Object.entries(query.attributes)) {
        for (const item of Array.isArray(value) ? value : [value]) {
          const label = `${name}=${item}`;
          values.set(label, (values.get(label) || 0) + 1);
        }
      }
    }
    const few = [...values].filter(([, count]) => count > 1).sort(([a], [b]) => a.localeCompare(b)).slice(0, 300);
    options(at("attribute"), [["", "any"], ...few.map(([label, count]) => [label, `${label} (${count})`])]);
    at("attribute-label").hidden = !few.length;
    chooseMetric();
  }

  function chooseMetric() {
    state.metric = at("metric").value;
    const better = state.measurement.metrics[state.metric]?.higher_is_better === false ? -1 : 1;
    for (const query of state.measurement.queries) {
      const [before, now] = query.values[state.metric] || [null, null];
      query.before_value = before; query.now_value = now;
      query.change = before === null || now === null ? null : now - before;
      const gain = query.change === null ? null : better * query.change;
      query.gain = gain;
      query.kind = gain === null ? "new" : gain < -EQUAL ? "worse" : gain > EQUAL ? "better" : "same";
      query.haystack ??= `${query.id} ${query.text} ${Object.entries(query.attributes).map(([n, v]) => `${n}=${v}`).join(" ")}`.toLowerCase();
    }
    filter();
  }

  const columns = [
    ["id", "query", (q) => q.id], ["text", "text", (q) => q.text],
    ["before", "baseline", (q) => q.before_value, true], ["now", "now", (q) => q.now_value, true],
    ["change", "change", (q) => q.gain, true], ["judged", "judged", (q) => q.judged, true],
    ["attributes", "attributes", (q) => Object.values(q.attributes).join(" ")],
  ];
  at("head").replaceChildren(...columns.map(([key, title, , isNumber]) => {
    const button = element("button", { type: "button" }, title);
    const head = element("th", { scope: "col", className: isNumber ? "number" : "" }, button);
    head.dataset.key = key;
    button.addEventListener("click", () => {
      state.ascending = state.sort === key ? !state.ascending : true;
      state.sort = key;
      filter();
    });
    return head;
  }));

  function filter() {
    const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = at("kind").value, attribute = at("attribute").value;
    const has = (query) => Object.entries(query.attributes).some(([name, value]) =>
      (Array.isArray(value) ? value : [value]).some((item) => `${name}=${item}` === attribute));
    const matching = state.measurement.queries.filter((query) =>
      (!kind || query.kind === kind) && (!attribute || has(query)) &&
      words.every((word) => query.haystack.includes(word)));
    const [, , value] = columns.find(([key]) => key === state.sort);
    const direction = state.ascending ? 1 : -1;
    matching.sort((left, right) => {
      const a = value(left), b = value(right);
      if (a === null || b === null) return (a === null) - (b === null);
      return direction * (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
    });
    state.matching = matching; state.shown = PAGE;
    for (const head of at("head").children) {
      if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    rows(); picture();
  }

  function rows() {
    const shown = state.matching.slice(0, state.shown), counts = { worse: 0, better: 0, same: 0, new: 0 };
    for (const query of state.matching) counts[query.kind] += 1;
    at("count").textContent = `${state.matching.length} of ${state.measurement.queries.length} ${state.measurement.unit}: ${counts.worse} worse, ${counts.better} better, ${counts.same} equal` + (counts.new ? `, ${counts.new} not compared` : "");
    at("rows").replaceChildren(...shown.flatMap((query) => state.open.has(query) ? [row(query), opened(query)] : [row(query)]));
    at("more").hidden = state.matching.length <= state.shown;
  }

  function row(query) {
    const isOpen = state.open.has(query);
    const button = element("button", { type: "button", className: "open", "aria-expanded": String(isOpen) }, query.id);
    const made = element("tr", {},
      element("td", {}, button), element("td", {}, query.text || "–"),
      element("td", { className: "number" }, number(query.before_value)),
      element("td", { className: "number" }, number(query.now_value)),
      element("td", { className: `number ${query.kind === "worse" ? "bad" : query.kind === "better" ? "good" : ""}` }, signed(query.change)),
      element("td", { className: "number" }, query.judged === null ? "–" : `${Math.round(100 * query.judged)}%`),
      element("td", {}, Object.entries(query.attributes).map(([name, value]) => `${name}=${value}`).join(", ") || "–"));
    button.addEventListener("click", () => {
      if (state.open.delete(query)) made.nextSibling.remove(); else { state.open.add(query); made.after(opened(query)); }
      button.setAttribute("aria-expanded", String(state.open.has(query)));
    });
    return made;
  }

  function opened(query) {
    const cell = element("td", { colSpan: columns.length }, rankings(query));
    const best = Object.entries(query.grades).filter(([doc, grade]) => grade > 0 && !query.now.includes(doc));
    if (best.length) {
      cell.append(element("p", { className: "mark" }, "Relevant, not in this top: " + best.slice(0, 10).map(([doc, grade]) => `${doc} (grade ${grade})`).join(", ") + (best.length > 10 ? ` and ${best.length - 10} more` : "")));
    }
    return element("tr", { className: "opened" }, cell);
  }

  function rankings(query) {
    const box = element("div", { className: "rankings" });
    const before = query.before || [];
    const list = (docs, others, isNow) => element("ol", {}, ...docs.map((doc, place) => {
      const other = others.indexOf(doc), grade = query.grades[doc];
      const moved = other < 0 ? (query.before ? (isNow ? "entered" : "left") : "") : isNow && other !== place ? `moved ${other + 1} → ${place + 1}` : "";
      const title = state.measurement.titles[doc];
      return element("li", {}, `${place + 1}. `, element("span", { className: "id" }, doc), title ? ` ${title}` : "", " ",
        element("span", { className: grade > 0 ? "grade good" : "mark" }, grade === undefined ? "unjudged" : `grade ${grade}`),
        moved ? element("span", { className: "mark" }, ` · ${moved}`) : "");
    }));
    const left = list(before, query.now, false), right = list(query.now, before, true);
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("aria-hidden", "true");
    lines.setAttribute("preserveAspectRatio", "none");
    box.append(element("h3", {}, query.before ? "Baseline" : "Baseline (none)"), element("h3", {}, "Now"), left, lines, right);
    requestAnimationFrame(() => {
      const frame = lines.getBoundingClientRect();
      if (!frame.height) return;
      lines.setAttribute("viewBox", `0 0 100 ${frame.height}`);
      const middle = (item) => { const box = item.getBoundingClientRect(); return box.top + box.height / 2 - frame.top; };
      before.forEach((doc, place) => {
        const other = query.now.indexOf(doc);
        if (other < 0) return;
        const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        const ends = { x1: 2, y1: middle(left.children[place]), x2: 98, y2: middle(right.children[other]) };
        for (const [key, value] of Object.entries(ends)) line.setAttribute(key, value);
        line.setAttribute("class", other < place ? "up" : other > place ? "down" : "");
        lines.append(line);
      });
    });
    return box;
  }

  function picture() {
    const changed = state.matching.filter((query) => query.kind === "worse" || query.kind === "better");
    const described = (query) => ({ query: query.id, text: query.text, before: query.before_value, now: query.now_value, difference: query.change, kind: query.kind });
    draw(at("chart-differences"), "differences", changed.map(({ change }) => ({ difference: change })));
    const ordered = [...changed].sort((a, b) => a.gain - b.gain);
    const ends = ordered.length > 2 * BARS ? [...ordered.slice(0, BARS), ...ordered.slice(-BARS)] : ordered;
    draw(at("chart-bars"), "bars", ends.map((query, place) => ({ ...described(query), place })));
    const cells = new Map();
    let low = Infinity, high = -Infinity;
    for (const query of state.matching) {
      if (query.change === null) continue;
      low = Math.min(low, query.before_value, query.now_value); high = Math.max(high, query.before_value, query.now_value);
      const step = state.matching.length > 1000 ? 50 : 1e6;
      const key = `${Math.round(query.before_value * step)} ${Math.round(query.now_value * step)}`;
      const cell = cells.get(key);
      if (cell) cell.queries += 1; else cells.set(key, { ...described(query), queries: 1 });
    }
    draw(at("chart-scatter"), "scatter", [...cells.values()], { diagonal: [{ at: low }, { at: high }] });
  }

  let waiting = 0;
  at("search").form.addEventListener("submit", (event) => event.preventDefault());
  at("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  at("kind").addEventListener("change", filter);
  at("attribute").addEventListener("change", filter);
  at("metric").addEventListener("change", chooseMetric);
  at("measurement").addEventListener("change", chooseMeasurement);
  at("more").addEventListener("click", () => { state.shown += 4 * PAGE; rows(); });
  if (report.measurements.length) chooseMeasurement(); else at("queries").hidden = true;
  addEventListener("beforeprint", () => { for (const details of document.querySelectorAll("details")) details.open = true; });
  document.documentElement.dataset.ready = "true";
})();
