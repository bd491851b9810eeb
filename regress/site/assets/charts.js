// Pictures. Each figure holds its data as JSON; colours are CSS variables, so themes need no redraw.
"use strict";

const root = document.body.dataset.root ?? "";
const VERDICTS = {
  REGRESSION: ["--slower", "triangle"], IMPROVEMENT: ["--faster", "triangle2"],
  SAME: ["--muted", "circle"], UNDECIDED: ["--unsure", "diamond2"], BROKEN: ["--gone", "times"],
  GONE: ["--gone", "times"], VARIANCE: ["--unsure", "wye"], NEW: ["--new", "plus"], NO_DATA: ["--unsure", "asterisk"],
};
const SYMBOLS = ["triangle", "triangle2", "circle", "diamond2", "times", "wye", "plus", "asterisk", "square"];
// Every round of the site, by its number; only pages that name rounds load them.
const rounds = (window.ROUNDS ?? []).map(([id, tag, campaign, started, kind, card]) => ({ id, tag, campaign, started, kind, card, whole: kind !== "looked again" }));
const HEAT = [1.02, 1.05, 1.1, 1.25, 1.5, 2, 4];
const micro = (us) => us.toLocaleString("en", { maximumSignificantDigits: 4 });
const ratioText = (r) => (r >= 10 ? r.toFixed(1) : r.toFixed(r < 1.995 ? 2 : 1));
const shade = (ratio) => HEAT.filter((limit) => ratio >= limit).length;
const color = (name) => `var(${name})`;

// Links inside a picture are for the mouse: the same links stand in a table, for the keyboard.
function quiet(svg) {
  for (const link of svg.querySelectorAll("a")) link.setAttribute("tabindex", "-1");
  return svg;
}

function plot(width, options) {
  return quiet(Plot.plot({ width, style: { background: "none", fontSize: "12px", overflow: "visible" }, ...options }));
}

function ticksFor(labels, width, each = 64) {
  const step = Math.max(1, Math.ceil((labels.length * each) / width));
  return labels.filter((_, i) => (labels.length - 1 - i) % step === 0);
}

const charts = {
  history(data, width) {
    const points = data.rounds.filter((r) => r[1] !== null).map(([number, time, mhz]) => ({ ...rounds[number], time, mhz }));
    if (!points.length) return message("No round has a time.");
    const seen = {};
    for (const p of points) p.dx = seen[p.tag] = (seen[p.tag] ?? -1) + 1;
    const step = Math.max(8, (width - 70) / data.tags.length);
    const medians = data.tags.map((tag, i) => ({ tag, time: data.medians[i], verdict: data.verdicts[i] }));
    const known = medians.filter((m) => m.time !== null);
    const lost = medians.filter((m) => m.time === null);
    const most = d3.rollup(points, (v) => v.length, (p) => p.tag);
    const jitter = (p) => ((p.dx + 0.5) / most.get(p.tag) - 0.5) * step * 0.62;
    const groups = d3.groups(points, (p) => p.dx + "/" + most.get(p.tag));
    const ratio = d3.max(points, (p) => p.time) / d3.min(points, (p) => p.time);
    return plot(width, {
      height: Math.min(380, Math.max(260, width * 0.36)), marginLeft: 58, marginBottom: 46, marginTop: 22, marginRight: 8,
      x: { type: "band", domain: data.tags, ticks: ticksFor(data.tags, width), tickRotate: data.tags.length > 12 ? -35 : 0, label: null, tickSize: 0, padding: 0 },
      y: { type: ratio > 3 ? "log" : "linear", grid: true, nice: true, label: "kernel time, µs", ticks: 5, tickFormat: micro, zero: false },
      marks: [
        Plot.ruleX(lost, { x: "tag", stroke: color("--line"), strokeDasharray: "2,4", title: (m) => `${m.tag}: not measured` }),
        ...groups.map(([, group]) => Plot.dot(group, {
          x: "tag", y: "time", dx: jitter(group[0]), r: 2.6, strokeWidth: 1.1,
          stroke: color("--muted"), fill: (p) => (p.whole ? "var(--muted)" : "none"), fillOpacity: 0.55,
          title: (p) => `${p.tag}\n${p.time} µs${p.mhz ? ` at ${p.mhz} MHz` : ""}\nround ${p.id}, ${p.kind}\ncampaign ${p.campaign}, card ${p.card}`, tip: { fill: "var(--surface)", stroke: "var(--line)" },
        })),
        ...known.map((m) => Plot.tickY([m], { x: "tag", y: "time", stroke: color(VERDICTS[m.verdict]?.[0] ?? "--ink"), strokeWidth: 2.5, insetLeft: step * 0.12, insetRight: step * 0.12 })),
        Plot.text(known.filter((m) => ["REGRESSION", "IMPROVEMENT"].includes(m.verdict)), {
          x: "tag", y: "time", dy: -16, text: (m) => (m.verdict === "REGRESSION" ? "▲" : "▼"), fill: (m) => `var(${VERDICTS[m.verdict][0]})`, fontSize: 11,
        }),
      ],
    });
  },

  year(data, width) {
    const tags = data.releases.map(([tag]) => tag);
    const wide = width > 760;
    const lines = data.lines.filter((l) => l.points.length);
    const rows = lines.flatMap((line) => line.points.map(([tag, median, low, high]) => ({ ...line, slot: data.lines.indexOf(line), tag, median, low, high })));
    const name = (l) => l.label + (l.like ? "" : " *");
    const last = lines.map((line) => ({ ...line, slot: data.lines.indexOf(line), y: line.points.at(-1)[1], tag: line.points.at(-1)[0] }));
    const figure = plot(width, {
      height: wide ? 420 : 360, marginLeft: 56, marginRight: wide ? 268 : 12, marginBottom: 46, marginTop: 22,
      x: { type: "point", domain: tags, ticks: ticksFor(tags, width - (wide ? 320 : 60)), tickRotate: tags.length > 12 ? -35 : 0, label: null, tickSize: 0, padding: 0.3 },
      y: { type: "log", grid: true, label: "kernel time, µs (log scale)", tickFormat: micro, ticks: 6 },
      symbol: { range: ["square", "circle", "triangle", "diamond", "star", "hexagon"] },
      marks: [
        ...lines.map((line) => Plot.line(line.points, { x: "0", y: "1", stroke: `var(--s${data.lines.indexOf(line)})`, strokeWidth: 1.8, strokeDasharray: line.like ? null : "5,4" })),
        Plot.dot(rows, { x: "tag", y: "median", symbol: "slot", r: 3.4, fill: (d) => `var(--s${d.slot})`, title: (d) => `${name(d)}\n${d.tag}: ${micro(d.median)} µs\nrounds from ${micro(d.low)} to ${micro(d.high)}`, href: (d) => root + d.href, tip: { fill: "var(--surface)", stroke: "var(--line)" } }),
        wide ? Plot.text(spread(last), { x: () => tags.at(-1), y: "at", dx: 14, textAnchor: "start", text: (l) => `${l.sign} ${name(l)}`, fill: (l) => `var(--s${l.slot})`, fontSize: 12.5, fontWeight: 500, href: (l) => root + l.href }) : null,
      ],
    });
    if (wide) return figure;
    return stack(legend(last.map((l) => [`var(--s${l.slot})`, name(l), root + l.href])), figure);
  },

  heat(data, width) {
    return heat(data.rows.map((row) => ({ ...row, group: row.family, label: short(row.workload), sub: row.backend })), data.tags, width, "time over the cell's fastest release");
  },

  regret(data, width) {
    return heat(data.rows, data.tags, width, "time of the choice over the best backend");
  },

  ratios(data, width) {
    return ratios(data, width);
  },

  roofline(data, width) {
    return roofline(data, width);
  },

  thresholds(data, width) {
    return thresholds(data, width);
  },
};

// Labels at line ends, pushed apart until none covers another (on a log scale, top down).
function spread(lines) {
  const signs = ["■", "●", "▲", "◆", "★", "⬢"];
  const sorted = lines.map((l) => ({ ...l, at: l.y, sign: signs[l.slot] })).sort((a, b) => b.y - a.y);
  const span = Math.log(sorted[0].y / sorted.at(-1).y) || 1;
  const gap = span / 13;
  for (let i = 1; i < sorted.length; i++) {
    const limit = Math.log(sorted[i - 1].at) - gap;
    if (Math.log(sorted[i].at) > limit) sorted[i].at = Math.exp(limit);
  }
  return sorted;
}

const short = (slug) => slug.replace(/-d128-bf16/, "").replace(/-p16(?=-)/, "");

function heat(rows, tags, width, meaning) {
  if (!rows.length) return message("Nothing was measured.");
  const narrow = width < 640;
  const left = narrow ? 0 : 432;
  const size = Math.max(narrow ? 20 : 16, Math.min(64, (width - left - 10) / tags.length));
  const inner = Math.max(width, left + size * tags.length + 10);
  const row = narrow ? 34 : 19;
  const id = (r) => `${r.group}\n${r.label}\n${r.sub}`;
  const cells = rows.flatMap((r) => tags.map((tag, i) => ({ id: id(r), r, tag, ratio: r.ratios[i], note: r.notes?.[i] })));
  const groups = d3.groups(rows, (r) => r.group);
  const order = groups.flatMap(([group, found]) => [`# ${group}`, ...found.map(id)]);
  const figure = plot(inner, {
    height: order.length * row + 40, marginLeft: left, marginTop: 36, marginBottom: 4, marginRight: 10,
    x: { type: "band", domain: tags, axis: "top", label: null, tickSize: 0, ticks: ticksFor(tags, size * tags.length, 52), tickRotate: tags.length > 14 ? -40 : 0, paddingInner: 0.05 },
    y: { type: "band", domain: order, axis: null, paddingInner: 0.1 },
    marks: [
      Plot.text(groups, { y: ([g]) => `# ${g}`, text: ([g]) => g, textAnchor: "start", frameAnchor: "left", dx: narrow ? 0 : -left, fontWeight: 620, fontSize: 12 }),
      Plot.cell(cells.filter((c) => c.ratio === null), { x: "tag", y: "id", fill: "none", stroke: color("--line"), inset: 0.5, insetTop: narrow ? 15 : 0.5, title: (c) => `${c.r.label}\n${c.r.sub}\n${c.tag}: ${c.note ?? "not measured"}` }),
      Plot.cell(cells.filter((c) => c.ratio !== null), { x: "tag", y: "id", insetTop: narrow ? 14 : 0, fill: (c) => `var(--h${shade(c.ratio)})`, href: (c) => root + c.r.href, title: (c) => `${c.r.label}\n${c.r.sub}\n${c.tag}: ${c.ratio.toFixed(3)} × ${c.note ?? ""}`, tip: { fill: "var(--surface)", stroke: "var(--line)" } }),
      size > 30 ? Plot.text(cells.filter((c) => c.ratio >= 1.02), { x: "tag", y: "id", dy: narrow ? 7 : 0, text: (c) => ratioText(c.ratio), fontSize: 10.5, fill: (c) => `var(--h-${shade(c.ratio) > 4 ? "light" : "dark"}-ink)`, pointerEvents: "none" }) : null,
      narrow
        ? Plot.text(rows, { x: () => tags[0], y: id, text: (r) => `${r.label} ${r.sub}`, textAnchor: "start", dx: -size / 2 + 2, dy: -10, fontSize: 9.5, fill: "var(--muted)", href: (r) => root + r.href })
        : [
          Plot.text(rows, { frameAnchor: "left", dx: -left, y: id, text: "label", textAnchor: "start", fontFamily: "Plex Mono, monospace", fontSize: 10.5, href: (r) => root + r.href }),
          Plot.text(rows, { frameAnchor: "left", dx: -10, y: id, text: (r) => r.sub.replace("flashinfer-", ""), textAnchor: "end", fontFamily: "Plex Mono, monospace", fontSize: 10.5, fill: "var(--muted)" }),
        ],
    ],
  });
  const bounds = ["under 1.02", ...HEAT.slice(0, -1).map((low, i) => `${low} – ${HEAT[i + 1]}`), "4 and more"];
  return stack(legend([...bounds.map((text, i) => [`var(--h${i})`, text]), ["transparent", "not measured"]], meaning), scrolled(figure));
}

function legend(entries, meaning) {
  const list = document.createElement("ul");
  list.className = "legend";
  if (meaning) list.append(Object.assign(document.createElement("li"), { textContent: `${meaning[0].toUpperCase()}${meaning.slice(1)}:` }));
  for (const [fill, text, href] of entries) {
    const item = document.createElement("li");
    const swatch = document.createElement("i");
    swatch.style.background = fill;
    if (fill === "transparent") swatch.style.border = "1px solid var(--line)";
    const label = href ? Object.assign(document.createElement("a"), { href }) : document.createElement("span");
    label.textContent = text;
    item.append(swatch, label);
    list.append(item);
  }
  return list;
}

function stack(...parts) {
  const box = document.createElement("div");
  box.append(...parts);
  return box;
}

function scrolled(figure) {
  const box = document.createElement("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Picture");
  box.append(figure);
  return box;
}

function message(text) {
  return Object.assign(document.createElement("p"), { className: "missing", textContent: text });
}

function draw(figure) {
  const data = figure.data ??= JSON.parse(figure.querySelector("script").textContent);
  const width = Math.floor(figure.getBoundingClientRect().width);
  if (!width || figure.drawn === width) return;
  figure.drawn = width;
  for (const old of figure.querySelectorAll(":scope > :not(script)")) old.remove();
  figure.append(charts[figure.dataset.chart](data, width));
}

const watcher = new ResizeObserver((entries) => entries.forEach((entry) => draw(entry.target)));
for (const figure of document.querySelectorAll("[data-chart]")) {
  draw(figure);
  watcher.observe(figure);
}

const details = document.getElementById("rounds");
details?.addEventListener("toggle", () => {
  const box = details.querySelector(".scroll");
  if (box.firstChild) return;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of ["Round", "Release", "Started (UTC)", "Kind", "Campaign", "Card", "µs", "MHz", "Notes"]) {
    head.append(Object.assign(document.createElement("th"), { textContent: name, className: ["µs", "MHz"].includes(name) ? "num" : "" }));
  }
  const body = table.createTBody();
  for (const [number, time, mhz, notes] of document.querySelector('[data-chart="history"]').data.rounds) {
    const r = rounds[number];
    const row = body.insertRow();
    row.dataset.round = r.id;
    for (const text of [r.id, r.tag, r.started.slice(0, 19).replace("T", " "), r.kind, r.campaign, r.card, time ?? "not measured", mhz ?? "–", notes]) row.insertCell().textContent = text;
    for (const at of [6, 7]) row.cells[at].className = "num";
  }
  box.append(table);
});
