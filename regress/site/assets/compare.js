// The comparison of two releases.
"use strict";

const settings = JSON.parse(document.getElementById("settings").textContent);
const form = document.getElementById("compare");
const place = document.getElementById("comparison");

function cellsOf(pair, base, head) {
  let at = 0;
  return SITE.cells.flatMap(([family, workload, backend, href], i) => {
    const ratio = pair.timed[i] === "1" ? pair.ratios[at++] : null;
    const verdict = settings.verdicts[Number(pair.letters[i])];
    if (!verdict) return [];
    return [{ family, workload, backend, href, verdict, ratio, before: SITE.times[base][i], now: SITE.times[head][i] }];
  });
}

function row(cell) {
  const link = element("a", { className: "cell", href: cell.href }, element("code", {}, cell.workload), " ", element("code", { className: "backend" }, cell.backend));
  const us = (time) => (time === null ? "not measured" : time.toLocaleString("en", { maximumFractionDigits: 4 }));
  const [estimate, low, high] = cell.ratio ?? [];
  const made = element("tr", {}, element("td", { className: "workload" }, link), element("td", {}, badge(cell.verdict)));
  made.append(element("td", { className: "num" }, cell.ratio ? `${estimate.toFixed(3)}×` : "–"));
  made.append(element("td", { className: "num" }, cell.ratio && low !== null && high !== null ? `${low.toFixed(3)} – ${high.toFixed(3)}` : "–"));
  made.append(element("td", { className: "num" }, us(cell.before)), element("td", { className: "num" }, us(cell.now)));
  return made;
}

function table(cells, base, head, name) {
  const titles = [["Cell"], ["Verdict"], ["Ratio", 1], ["Interval", 1], [`${base}, median µs`, 1], [`${head}, median µs`, 1]];
  const heads = titles.map(([text, num]) => element("th", { className: num ? "num" : "" }, text));
  const made = element("table", {}, element("thead", {}, element("tr", {}, ...heads)));
  const rank = (c) => [settings.verdicts.indexOf(c.verdict), -Math.abs(Math.log(c.ratio?.[0] ?? 1))];
  const sorted = cells.map((c) => [rank(c), c]).sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
  made.append(element("tbody", {}, ...sorted.map(([, c]) => row(c))));
  const box = element("div", { className: "scroll", tabIndex: 0 }, made);
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", name);
  return box;
}

function show(pair, base, head) {
  const title = element("h2", {}, `${base} → ${head} `);
  if (!pair) {
    place.replaceChildren(title, message("No case was measured in either of these two: nothing to compare."));
    return;
  }
  title.append(badge(pair.verdict));
  const cells = cellsOf(pair, base, head);
  const counts = settings.verdicts.map((v) => [v, cells.filter((c) => c.verdict === v).length]).filter(([, n]) => n);
  const told = element("p", { className: "counts" }, ...counts.map(([v, n]) => badge(v, `${n} ${v}`)));
  const figure = element("figure", { className: "chart" });
  figure.dataset.chart = "ratios";
  figure.setAttribute("aria-label", `Ratio of ${head} to ${base}, cell by cell`);
  const shown = cells.filter((c) => c.ratio).map((c) => [c.family, c.workload, c.backend, c.verdict, c.ratio[0], c.href]);
  figure.append(element("script", { type: "application/json" }, JSON.stringify({ base, head, cells: shown })));
  const note = element("p", { className: "caption" }, `Tier ${pair.tier}. A ratio compares rounds of one campaign if one holds both; medians are over all rounds of a release, so their quotient may differ. Reproduce: `);
  note.append(element("code", {}, `python -m regress check ${base} ${head} ${settings.source}`.trim()));
  const same = cells.filter((c) => c.verdict === "SAME");
  const other = cells.filter((c) => c.verdict !== "SAME");
  const folded = element("details", {}, element("summary", {}, `${same.length} cells are SAME`), table(same, base, head, "Cells that are SAME"));
  place.replaceChildren(title, told, figure, note);
  if (other.length) place.append(table(other, base, head, "Cells that are not SAME"));
  if (same.length) place.append(folded);
  draw(figure);
  watcher.observe(figure);
}

async function update() {
  const order = settings.tags;
  let [base, head] = decoded(location.hash.slice(1)).split("...");
  if (!order.includes(base) || !order.includes(head)) [base, head] = settings.default;
  if (order.indexOf(base) > order.indexOf(head)) [base, head] = [head, base];
  form.base.value = base;
  form.head.value = head;
  document.title = `${base} → ${head} · attention-regress`;
  if (base === head) {
    place.replaceChildren(message("Base and head are the same: choose two releases."));
    return;
  }
  try {
    show((await load("pairs", base))[head], base, head);
  } catch (error) {
    place.replaceChildren(message(error.message));
  }
}

form.addEventListener("change", () => {
  location.hash = `${encodeURIComponent(form.base.value)}...${encodeURIComponent(form.head.value)}`;
});
addEventListener("hashchange", update);
update();
