// From the release that the reader runs to every other one. Nothing is judged here: cells were, and
// their counts are added up over the families that the reader runs.
"use strict";

const settings = JSON.parse(document.getElementById("settings").textContent);
const form = document.getElementById("upgrade");
const answer = document.getElementById("answer");
const choices = document.getElementById("choices");
const order = settings.releases.map(([tag]) => tag);

const ratio = (value) => `${value.toFixed(value >= 10 ? 1 : 3)}×`;
const cells = (n) => `${n} ${n === 1 ? "cell" : "cells"}`;
const compareOf = (a, b) => `compare.html#${[a, b].sort((x, y) => order.indexOf(x) - order.indexOf(y)).map(encodeURIComponent).join("...")}`;
const linked = (tag, row) => element("a", { href: compareOf(tag, row.tag) }, row.tag);
const hashOf = (tag, family) => encodeURIComponent(tag) + (family ? `/${encodeURIComponent(family)}` : "");

function total(tag, told, families) {
  const parts = families.filter((f) => told[f]).map((f) => told[f]);
  const sum = (read) => parts.reduce((found, part) => found + read(part), 0);
  const of = (verdicts) => sum((part) => verdicts.reduce((n, v) => n + (part.counts[v] ?? 0), 0));
  const counts = settings.verdicts.map((v) => [v, of([v])]).filter(([, n]) => n);
  const pick = (name, sign) => parts.map((p) => p[name]).filter(Boolean).sort(([a], [b]) => sign * (a - b))[0];
  const row = { tag, told, counts, size: of(settings.verdicts), across: sum((p) => p.across) > 0, saved: sum((p) => p.saved) };
  row.more = [sum((p) => p.more[0]), sum((p) => p.more[1])];
  row.slow = pick("slow", -1);
  row.fast = pick("fast", 1);
  row.doubt = pick("doubt", -1);
  row.worse = of(settings.losing);
  row.faster = of(["IMPROVEMENT"]);
  row.lost = row.worse - of(["REGRESSION"]);
  row.open = row.size - row.worse - of(["IMPROVEMENT", "SAME", "NEW"]);
  row.clean = row.worse + row.more[0] === 0;
  row.loss = row.lost ? Infinity : (row.slow?.[0] ?? 1);
  return row;
}

// The rule that the page tells in words.
function best(rows) {
  const free = rows.filter((row) => row.clean);
  const newer = (a, b) => order.indexOf(b.tag) - order.indexOf(a.tag);
  const most = Math.max(...free.map((row) => row.saved));
  const alike = free.filter((row) => row.saved >= most - settings.margins[row.across ? 1 : 0]);
  if (free.length) return alike.sort((a, b) => a.across - b.across || a.open - b.open || newer(a, b))[0];
  return [...rows].sort((a, b) => a.loss - b.loss || a.worse - b.worse || b.saved - a.saved || newer(a, b))[0];
}

const are = (n) => `${n} ${n === 1 ? "is" : "are"}`;
const gains = (row) => `${are(row.faster)} faster${row.fast ? ` (best ${ratio(row.fast[0])})` : ""}`;
const open = (row) => (row.open ? `; ${are(row.open)} not shown equal${row.doubt ? ` (worst ${ratio(row.doubt[0])})` : ""}` : "");

function losses(row) {
  const slower = row.worse - row.lost;
  const told = [];
  if (row.lost) told.push(`${cells(row.lost)} lost or wrong`);
  if (slower) told.push(`${cells(slower)} slower, at most ${ratio(row.slow[0])}`);
  if (!row.worse) told.push(`${cells(row.more[0])} of a larger tier slower or lost`);
  return told.join(" and ");
}

function across(tag, row, rows) {
  if (!row.across) return [];
  const beside = best(rows.filter((other) => !other.across && other.clean && other.faster));
  const unseen = ` It is compared across campaigns, where changes of up to ${(settings.margins[1] * 100).toFixed(0)} % go unseen`;
  return beside ? [`${unseen}; measured side by side, the choice is `, linked(tag, beside), `: ${gains(beside)}${open(beside)}.`] : [`${unseen}.`];
}

function sentence(tag, newer, older) {
  const top = best(newer);
  const back = best(older.filter((row) => row.clean && row.faster && (!top?.clean || row.saved > top.saved)));
  const told = [];
  if (!top) told.push(`${tag} is the newest release measured${back ? "" : ", and no older one is faster without being slower elsewhere"}.`);
  else if (!top.clean) told.push(`From ${tag}, no newer release is free of regressions. `, linked(tag, top), ` has the smallest largest loss: ${losses(top)}; ${gains(top)}${open(top)}.`);
  else if (!top.faster) told.push(`From ${tag}, no newer release is faster without being slower elsewhere. `, linked(tag, top), ` is shown slower nowhere${open(top)}.`);
  else told.push(`From ${tag}, go to `, linked(tag, top), `: none of ${cells(top.size)} is shown slower or lost, ${gains(top)}${open(top)}.`);
  if (top) told.push(...across(tag, top, newer));
  if (back) told.push(" Going back to ", linked(tag, back), ` is shown to cost nothing, and ${gains(back)}${open(back)}${back.across ? ", compared across campaigns" : ""}.`);
  return [element("p", { className: "answer" }, ...told), top];
}

function extreme(found) {
  if (!found) return element("td", { className: "num extreme" }, "–");
  const [value, place] = found;
  const [family, workload, backend, href] = SITE.cells[place];
  const link = element("a", { href, title: `${workload} ${backend}` }, ratio(value));
  link.setAttribute("aria-label", `${ratio(value)}, ${workload} ${backend}`);
  return element("td", { className: "num extreme" }, link, element("br"), element("span", { className: "why" }, family));
}

function typical(part) {
  if (!part || part.median === null) return element("td", { className: "num" }, "–");
  const margin = settings.margins[part.across ? 1 : 0];
  const verdict = part.median > 1 + margin ? "REGRESSION" : part.median < 1 - margin ? "IMPROVEMENT" : "SAME";
  const sign = verdict === "SAME" ? "" : `${VERDICTS[verdict][2]} `;
  return element("td", { className: `num v-${verdict.toLowerCase()}` }, `${sign}${part.median.toFixed(3)}`);
}

function count(verdict, n) {
  const made = element("span", { className: `v-${verdict.toLowerCase()}`, title: `${n} ${verdict}`, role: "img" }, `${VERDICTS[verdict][2]} ${n}`);
  made.setAttribute("aria-label", `${n} ${verdict}`);
  return made;
}

function line(row, tag, families) {
  const link = element("a", { href: `releases/${encodeURIComponent(row.tag)}.html` }, row.tag);
  const name = element("th", { scope: "row" }, link, element("br"), element("span", { className: "why" }, row.day));
  const small = (...text) => [element("br"), element("span", { className: "why" }, ...text)];
  const verdict = element("td", { className: "against" });
  if (!row.size) {
    verdict.append(element("span", { className: "missing" }, "not compared: no cell in common"));
    return element("tr", {}, name, verdict, ...Array.from({ length: 3 + families.length }, () => element("td", { className: "num" }, "–")));
  }
  verdict.append(badge(row.counts[0][0]), ...small(element("a", { href: compareOf(tag, row.tag) }, "compare"), row.across ? ", across campaigns" : ""));
  if (row.more[0] + row.more[1]) verdict.append(...small(`larger tier: ${row.more[0]} worse, ${row.more[1]} faster`));
  const counts = element("td", {}, element("span", { className: "counts" }, ...row.counts.map(([v, n]) => count(v, n))));
  const made = element("tr", { className: row.chosen ? "chosen" : "" }, name, verdict, counts, extreme(row.slow), extreme(row.fast), ...families.map((f) => typical(row.told[f])));
  made.dataset.tag = row.tag;
  return made;
}

function table(groups, tag, families) {
  const titles = [["Release"], ["Against yours"], ["Cells"], ["Largest loss", 1], ["Largest gain", 1], ...families.map((f) => [f, 1])];
  const made = element("table", {}, element("thead", {}, element("tr", {}, ...titles.map(([text, num]) => element("th", { className: num ? "num" : "" }, text)))));
  for (const [title, rows] of groups) {
    if (!rows.length) continue;
    const head = element("th", { className: "group", colSpan: titles.length, scope: "rowgroup" }, title);
    made.append(element("tbody", {}, element("tr", {}, head), ...rows.map((row) => line(row, tag, families))));
  }
  return made;
}

async function update() {
  const asked = location.hash.slice(1).split("/").map(decodeURIComponent);
  const tag = order.includes(asked[0]) ? asked[0] : settings.default;
  const chosen = settings.families.includes(asked[1]) ? asked[1] : "";
  form.tag.value = tag;
  form.family.value = chosen;
  document.title = `From ${tag} · attention-regress`;
  try {
    const told = await load("upgrades", tag);
    const every = [...new Set(order.flatMap((other) => Object.keys(told[other] ?? {})))];
    const families = chosen ? [chosen] : settings.families;
    const rows = settings.releases.map(([other, day]) => ({ ...total(other, told[other] ?? {}, chosen ? [chosen] : every), day })).reverse();
    const [newer, older] = [1, -1].map((side) => rows.filter((row) => side * (order.indexOf(row.tag) - order.indexOf(tag)) > 0));
    const known = (group) => group.filter((row) => row.size);
    const [text, top] = sentence(tag, known(newer), known(older));
    if (top) top.chosen = true;
    answer.replaceChildren(text);
    choices.replaceChildren(table([["Newer", newer], ["Older: going back", older]], tag, families));
  } catch (error) {
    answer.replaceChildren(message(error.message));
    choices.replaceChildren();
  }
}

form.addEventListener("change", () => { location.hash = hashOf(form.tag.value, form.family.value); });
addEventListener("hashchange", update);
update();
