// Pictures. Each figure holds its data as JSON; colours are CSS variables, so themes need no redraw.
"use strict";

const root = document.body.dataset.root ?? "";
const VERDICTS = {
  REGRESSION: ["--slower", "triangle", "▲"], IMPROVEMENT: ["--faster", "triangle", "▼"],
  SAME: ["--muted", "circle", "="], UNDECIDED: ["--unsure", "diamond", "?"], BROKEN: ["--gone", "times", "!"],
  GONE: ["--gone", "times", "×"], VARIANCE: ["--unsure", "wye", "≈"], NEW: ["--new", "plus", "+"],
  NO_DATA: ["--unsure", "asterisk", "∅"], WAIVED: ["--muted", "square", "w"],
};
// Every round of the site, by its number; only pages that name rounds load them.
const rounds = (window.SITE?.rounds ?? []).map(([id, tag, campaign, started, kind, card]) => ({ id, tag, campaign, started, kind, card, whole: kind !== "looked again" }));
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

// Names of releases on an axis: slanted where they are many, with room for the longest.
function tagAxis(tags, width, slant) {
  const slanted = tags.length > 12;
  const room = slanted ? 16 + d3.max(tags, (tag) => tag.length) * 6.6 * Math.sin((slant * Math.PI) / 180) : 30;
  return { room, ticks: ticksFor(tags, width, slanted ? 19 : 64), tickRotate: slanted ? -slant : 0, label: null, tickSize: 0 };
}

// Ticks of a log axis: as many of 1, 2 and 5 times a power of ten as there is room for.
function logTicks([low, high], most) {
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    const found = d3.range(-9, 16).flatMap((power) => digits.map((d) => d * 10 ** power)).filter((v) => v >= low * 0.999 && v <= high * 1.001);
    if (found.length <= most) return found.length > 1 ? found : [low, high];
  }
  return [low, high];
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
    const { room, ...named } = tagAxis(data.tags, width - 66, 40);
    return plot(width, {
      height: Math.min(380, Math.max(260, width * 0.36)) + room - 46, marginLeft: 58, marginBottom: room, marginTop: 22, marginRight: 8,
      x: { type: "band", domain: data.tags, padding: 0, ...named },
      y: { type: ratio > 3 ? "log" : "linear", grid: true, nice: true, label: `kernel time, µs${ratio > 3 ? " (log scale)" : ""}`, tickSize: 0, ticks: ratio > 3 ? logTicks(d3.extent(points, (p) => p.time), 7) : 5, tickFormat: micro, zero: false },
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
    const { room, ...named } = tagAxis(tags, width - (wide ? 324 : 68), 40);
    const day = new Map(data.releases);
    const figure = plot(width, {
      height: (wide ? 374 : 314) + room, marginLeft: 56, marginRight: wide ? 268 : 12, marginBottom: room, marginTop: 22,
      x: { type: "point", domain: tags, padding: 0.3, ...named },
      y: { type: "log", domain: [d3.min(rows, (r) => r.median) * 0.85, d3.max(rows, (r) => r.median) * 1.12], grid: true, label: "kernel time, µs (log scale)", tickSize: 0, tickFormat: micro, ticks: logTicks(d3.extent(rows, (r) => r.median), 8) },
      symbol: { range: ["square", "circle", "triangle", "diamond", "star", "hexagon"] },
      marks: [
        ...lines.map((line) => Plot.line(line.points, { x: "0", y: "1", stroke: `var(--s${data.lines.indexOf(line)})`, strokeWidth: 1.8, strokeDasharray: line.like ? null : "5,4" })),
        Plot.dot(rows, { x: "tag", y: "median", symbol: "slot", r: 3.4, fill: (d) => `var(--s${d.slot})`, title: (d) => `${name(d)}\n${d.tag}, ${day.get(d.tag)}: ${micro(d.median)} µs\nrounds from ${micro(d.low)} to ${micro(d.high)}`, href: (d) => root + d.href, tip: { fill: "var(--surface)", stroke: "var(--line)" } }),
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
    const cells = data.cells.map(([family, workload, backend, verdict, ratio, href]) => ({ family, workload, backend, verdict, ratio, href }));
    if (!cells.length) return message("No cell has a time on both sides.");
    const reach = Math.max(1.05, ...cells.flatMap((c) => [c.ratio, 1 / c.ratio])) ** 1.08;
    const families = [...new Set(cells.map((c) => c.family))];
    const narrow = width < 640;
    const ticks = reach > 2 ? logTicks([1 / reach, reach], narrow ? 5 : 9) : [-0.9, -0.45, 0, 0.45, 0.9].map((part) => reach ** part);
    const present = Object.keys(VERDICTS).filter((v) => cells.some((c) => c.verdict === v));
    const figure = plot(width, {
      height: families.length * 54 + 50, marginLeft: narrow ? 8 : 124, marginRight: 14, marginBottom: 38, marginTop: 8,
      x: { type: "log", domain: [1 / reach, reach], axis: null },
      y: { domain: [-1.25, 1.25], axis: null },
      fy: { domain: families, label: null, axis: null, padding: 0 },
      symbol: { domain: Object.keys(VERDICTS), range: Object.values(VERDICTS).map(([, symbol]) => symbol) },
      marks: [
        Plot.text(families, { fy: (f) => f, text: (f) => f, frameAnchor: narrow ? "top-left" : "left", dx: narrow ? 0 : -124, fontSize: 12, fontWeight: 560 }),
        Plot.gridX(ticks),
        // The text is given by hand: a log axis leaves labels out that it takes for minor.
        Plot.axisX(ticks, { text: (r) => Number(r.toPrecision(reach > 2 ? 2 : 3)) + "×", tickSize: 0, label: `${data.head} over ${data.base}, log scale`, labelAnchor: "center" }),
        Plot.ruleX([1], { stroke: color("--muted"), strokeWidth: 1 }),
        Plot.dot(cells, {
          x: "ratio", y: (c) => jitter(c.workload + c.backend), fy: "family", r: 4, rotate: (c) => (c.verdict === "IMPROVEMENT" ? 180 : 0), symbol: "verdict", stroke: (c) => color(VERDICTS[c.verdict][0]), fill: (c) => color(VERDICTS[c.verdict][0]), fillOpacity: (c) => (c.verdict === "SAME" ? 0.15 : 0.8), strokeOpacity: (c) => (c.verdict === "SAME" ? 0.6 : 1), strokeWidth: 1,
          title: (c) => `${c.workload}\n${c.backend}\n${c.ratio.toFixed(3)} × ${c.verdict}`, href: (c) => root + c.href, tip: { fill: "var(--surface)", stroke: "var(--line)" },
        }),
      ],
    });
    return stack(signs(present), figure);
  },

  roofline(data, width) {
    if (!data.release) return message("");
    const points = roofPoints(data, data.release);
    if (!points.length) return message("Nothing was measured under this release.");
    const { bytes, flops } = data.ceilings;
    const [least, most] = d3.extent(points, (p) => p.intensity);
    const x = [least / 1.5, Math.max(most * 1.6, (flops / bytes) * 2)];
    const roof = (bandwidth) => [[x[0], x[0] * bandwidth], [flops / bandwidth, flops], [x[1], flops]];
    const families = [...new Set(points.map((p) => p.family))];
    const slot = (p) => families.indexOf(p.family) % 6;
    const figure = plot(width, {
      height: Math.min(460, Math.max(320, width * 0.45)), marginLeft: 58, marginBottom: 42, marginTop: 22, marginRight: 16,
      x: { type: "log", domain: x, label: "operations a byte, log scale", labelAnchor: "center", grid: true, tickSize: 0, ticks: logTicks(x, 6), tickFormat: (v) => v.toLocaleString("en") },
      y: { type: "log", label: "TFLOP/s, log scale", grid: true, tickSize: 0, transform: (v) => v / 1e12, ticks: logTicks(d3.extent([...points.map((p) => p.rate / 1e12), flops / 1e12]), 7), tickFormat: (v) => v.toLocaleString("en") },
      marks: [
        data.datasheet ? Plot.line([[x[0], x[0] * data.datasheet], [flops / data.datasheet, flops]], { stroke: color("--muted"), strokeDasharray: "4,4" }) : null,
        Plot.line(roof(bytes), { stroke: color("--ink"), strokeWidth: 1.4 }),
        Plot.dot(points, {
          x: "intensity", y: "rate", r: 3.4, stroke: (p) => `var(--s${slot(p)})`, fill: (p) => (p.contiguous ? "none" : `var(--s${slot(p)})`), fillOpacity: 0.65,
          title: (p) => `${p.workload}\n${p.backend}\n${(p.bandwidth / 1e12).toFixed(2)} TB/s, ${(p.rate / 1e12).toFixed(1)} TFLOP/s in ${micro(p.time)} µs`, href: (p) => root + p.href, tip: { fill: "var(--surface)", stroke: "var(--line)" },
        }),
      ],
    });
    return stack(legend(families.map((f, i) => [`var(--s${i % 6})`, f])), figure);
  },

  thresholds(data, width) {
    const kinds = ["planned", "measured", "predicted"];
    const told = data.axes.flatMap((a) => Object.entries(a.told).flatMap(([tag, found]) => kinds.filter((k) => found[k]).map((kind) => ({ backend: a.backend, tag, kind, last: found[kind][0], first: found[kind][1] }))));
    if (!told.length) return message("No release was measured on growing batches.");
    const backends = [...new Set(told.map((t) => t.backend))];
    const contiguous = new Set(data.axes.filter((a) => a.contiguous).map((a) => a.backend));
    const narrow = width < 640;
    const of = (kind) => told.filter((t) => t.kind === kind);
    const title = (t) => `${t.backend}\n${t.tag}, ${t.kind}\n${t.first === null ? `not up to ${t.last}` : t.last === null ? `at ${t.first} or below` : `after ${t.last}, by ${t.first}`}`;
    const { room, ...named } = tagAxis(data.tags, width - (narrow ? 60 : 260), 40);
    const figure = plot(width, {
      height: backends.length * 92 + 20 + room, marginLeft: 50, marginRight: narrow ? 10 : 210, marginBottom: room, marginTop: narrow ? 40 : 20,
      x: { type: "band", domain: data.tags, ...named },
      y: { type: "log", base: 2, domain: [2, 1400], grid: true, label: "batch size, log scale", tickSize: 0, tickFormat: (v) => v.toLocaleString("en"), ticks: [8, 64, 512] },
      fy: { domain: backends, axis: null, padding: narrow ? 0.26 : 0.14 },
      marks: [
        Plot.text(backends, { fy: (b) => b, text: (b) => b.replace("flashinfer-", "") + (contiguous.has(b) ? " *" : ""), frameAnchor: narrow ? "top-left" : "right", textAnchor: "start", dx: narrow ? 4 : 10, dy: narrow ? -13 : 0, fontFamily: "Plex Mono, monospace", fontSize: 11 }),
        Plot.ruleX(of("planned").filter((t) => t.first !== null), { fy: "backend", x: "tag", y1: (t) => t.last ?? 2, y2: "first", stroke: color("--s2"), strokeWidth: 9, strokeOpacity: 0.45, title, tip: { fill: "var(--surface)", stroke: "var(--line)" } }),
        Plot.text(of("planned").filter((t) => t.first === null), { fy: "backend", x: "tag", y: "last", text: () => "↑", dy: -4, fill: color("--s2"), title }),
        Plot.dot(of("predicted").filter((t) => t.first !== null), { fy: "backend", x: "tag", y: "first", symbol: "diamond", r: 5, stroke: color("--muted"), title }),
        // A bracket without length is a dot, by its round ends.
        Plot.ruleX(of("measured").filter((t) => t.first !== null), { fy: "backend", x: "tag", y1: (t) => t.last ?? 2, y2: "first", stroke: color("--s0"), strokeWidth: 4, strokeLinecap: "round", title }),
      ],
    });
    const keys = legend([["var(--s2)", "planned, as the library says (↑ beyond the largest batch)"], ["var(--s0)", "measured, from times"], ["transparent", "◇ predicted by a model"]]);
    return stack(keys, figure, ...(contiguous.size ? [message("* reads contiguous KV: not like for like")] : []));
  },
};

// What a release achieved: least work over median time, cell by cell.
function roofPoints(data, release) {
  return SITE.cells.flatMap(([family, workload, backend, href, contiguous], i) => {
    const [work, time] = [data.work[i], SITE.times[release][i]];
    if (!work || !time) return [];
    const [rate, bandwidth] = work.map((amount) => (amount / time) * 1e6);
    return [{ family, workload, backend, href, time, rate, bandwidth, intensity: work[0] / work[1], contiguous }];
  });
}

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
  const right = tags.length > 12 ? 46 : 10;
  const size = Math.max(narrow ? 20 : 13, Math.min(64, (width - left - right) / tags.length));
  const inner = Math.max(width, left + size * tags.length + right);
  const { room, ...named } = tagAxis(tags, size * tags.length, 60);
  const row = narrow ? 34 : 19;
  const id = (r) => `${r.group}\n${r.label}\n${r.sub}`;
  const cells = rows.flatMap((r) => tags.map((tag, i) => ({ id: id(r), r, tag, ratio: r.ratios[i], note: r.notes?.[i] })));
  const groups = d3.groups(rows, (r) => r.group);
  const order = groups.flatMap(([group, found]) => [`# ${group}`, ...found.map(id)]);
  const figure = plot(inner, {
    height: order.length * row + 4 + room, marginLeft: left, marginTop: room, marginBottom: 4, marginRight: right,
    x: { type: "band", domain: tags, axis: "top", paddingInner: 0.05, ...named },
    y: { type: "band", domain: order, axis: null, paddingInner: 0.1 },
    marks: [
      Plot.text(groups, { y: ([g]) => `# ${g}`, text: ([g]) => g, textAnchor: "start", frameAnchor: "left", dx: narrow ? 0 : -left, fontWeight: 620, fontSize: 12 }),
      Plot.cell(cells.filter((c) => c.ratio === null), { x: "tag", y: "id", fill: "none", stroke: color("--line"), inset: 0.5, insetTop: narrow ? 15 : 0.5, title: (c) => `${c.r.label}\n${c.r.sub}\n${c.tag}: ${c.note ?? "not measured"}` }),
      Plot.cell(cells.filter((c) => c.ratio !== null), { x: "tag", y: "id", insetTop: narrow ? 14 : 0, fill: (c) => `var(--h${shade(c.ratio)})`, href: (c) => root + c.r.href, title: (c) => `${c.r.label}\n${c.r.sub}\n${c.tag}: ${c.ratio.toFixed(3)} × ${c.note ?? ""}`, tip: { fill: "var(--surface)", stroke: "var(--line)" } }),
      size > 24 ? Plot.text(cells.filter((c) => c.ratio >= 1.02), { x: "tag", y: "id", dy: narrow ? 7 : 0, text: (c) => ratioText(c.ratio), fontSize: 10.5, fill: (c) => `var(--h-${shade(c.ratio) > 4 ? "light" : "dark"}-ink)`, pointerEvents: "none" }) : null,
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

function signs(verdicts) {
  const list = Object.assign(document.createElement("ul"), { className: "legend" });
  for (const verdict of verdicts) {
    list.append(Object.assign(document.createElement("li"), { className: `v-${verdict.toLowerCase()}`, textContent: `${VERDICTS[verdict][2]} ${verdict}` }));
  }
  return list;
}

// Spreads marks that would lie on each other; the same name lies in the same place each time.
function jitter(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
  return (hash / 9972) * 2 - 1;
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

// What stands behind # in an address; codes that no browser writes, as a lone %, stand as they are.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function message(text) {
  return Object.assign(document.createElement("p"), { className: "missing", textContent: text });
}

function draw(figure) {
  const data = figure.data ??= JSON.parse(figure.querySelector("script").textContent);
  const width = Math.floor(figure.getBoundingClientRect().width);
  if (!width || figure.drawn === width) return;  // Nothing to see inside closed details.
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
