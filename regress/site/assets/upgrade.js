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
const hashOf = (...parts) => parts.map(encodeURIComponent).join("/").replace(/\/+$/, "");
const familyOf = (place) => SITE.cells[place][0];
const kindOf = (place) => settings.kinds[SITE.cells[place][2]];

function told(other, wanted) {
  const found = settings.cells.map((place, i) => ({ place, verdict: settings.verdicts[Number(other.letters[i])], ratio: other.ratios[i], across: other.across[i] === "1" }));
  return found.filter((cell) => cell.verdict && wanted(cell.place));
}

function total(tag, other, wanted) {
  const found = other ? told(other, wanted) : [];
  const of = (...verdicts) => found.filter((cell) => verdicts.includes(cell.verdict));
  const sized = (verdict, sign) => of(verdict).filter((cell) => cell.ratio && sign * cell.ratio > sign).sort((x, y) => sign * (y.ratio - x.ratio))[0];
  const lost = (verdict) => (other?.more[verdict] ?? []).filter(wanted);
  const row = { tag, cells: found, size: found.length, tier: other?.tier, across: found.some((cell) => cell.across) };
  row.counts = settings.verdicts.map((v) => [v, of(v).length]).filter(([, n]) => n);
  row.saved = of("IMPROVEMENT").reduce((sum, cell) => sum + (cell.ratio ? 1 - cell.ratio : 0), 0);
  row.slow = sized("REGRESSION", 1);
  row.fast = sized("IMPROVEMENT", -1);
  row.doubt = sized("UNDECIDED", 1);
  row.worse = of(...settings.losing).length;
  row.faster = of("IMPROVEMENT").length;
  row.lost = row.worse - of("REGRESSION").length;
  row.missing = of("NO_DATA").length;
  row.lacking = (other?.lacks ?? []).filter(wanted).length;
  row.known = row.size - row.missing;
  row.open = row.known - row.worse - of("IMPROVEMENT", "SAME", "NEW").length;
  const larger = settings.losing.flatMap((verdict) => lost(verdict).map((place) => ({ place, verdict })));
  row.bad = [...of(...settings.losing), ...larger];
  row.more = [larger.length, lost("IMPROVEMENT").length];
  return row;
}

// A cell that the reader's release has and the other one lacks is a loss, since nothing is known of
// it, and none is larger.
//
// A loss of a twin counts, where the row has none itself. Identical kernels are as fast and as
// wrong; that a cell was not measured says nothing of them.
function findLosses(rows) {
  for (const row of rows) {
    const own = row.bad.map((cell) => cell.place);
    const twins = rows.filter((other) => settings.twins[row.tag]?.includes(other.tag));
    const worse = (other) => other.bad.filter((cell) => cell.verdict !== "GONE" && !own.includes(cell.place));
    row.twins = twins.map((other) => ({ tag: other.tag, bad: worse(other) })).filter((other) => other.bad.length).sort((a, b) => b.bad.length - a.bad.length);
    row.clean = row.bad.length + row.twins.length + row.lacking === 0;
    const wrong = row.lost || row.lacking || row.twins.some((other) => other.bad.some((cell) => cell.verdict !== "REGRESSION"));
    row.loss = wrong ? Infinity : Math.max(1, ...[row, ...twins].map((one) => one.slow?.ratio ?? 1));
  }
}

// The rule that the page tells in words.
function best(rows) {
  const free = rows.filter((row) => row.clean);
  const newer = (a, b) => order.indexOf(b.tag) - order.indexOf(a.tag);
  const most = Math.max(...free.map((row) => row.saved));
  const alike = free.filter((row) => row.saved >= most - settings.margins[row.across ? 1 : 0]);
  if (free.length) return alike.sort((a, b) => a.across - b.across || a.open + a.missing - b.open - b.missing || newer(a, b))[0];
  return [...rows].sort((a, b) => a.loss - b.loss || a.worse + a.lacking - b.worse - b.lacking || b.saved - a.saved || newer(a, b))[0];
}

const are = (n) => (n ? `${n} ${n === 1 ? "is" : "are"}` : "none is");

function cellLink({ place, ratio: value }) {
  const [, workload, backend, href] = SITE.cells[place];
  const link = element("a", { href, title: `${workload} ${backend}` }, ratio(value));
  link.setAttribute("aria-label", `${ratio(value)}, ${workload} ${backend}`);
  return link;
}

const gains = (row) => [`${are(row.faster)} faster`, ...(row.fast ? [" (best ", cellLink(row.fast), ")"] : [])];
const worst = (row) => (row.doubt ? [" (worst ", cellLink(row.doubt), ` on ${familyOf(row.doubt.place)})`] : []);
const absent = (row) => `${row.missing} of ${cells(row.size)} ${row.missing === 1 ? "has" : "have"} no data`;
const missing = (row) => (row.missing ? [`; ${absent(row)}`] : []);
const open = (row) => (row.open ? [`; ${are(row.open)} not shown equal`, ...worst(row), ...missing(row)] : missing(row));

function twins(tag, row) {
  if (!row.twins.length) return [];
  const [first, ...others] = row.twins;
  const slow = first.bad.filter((cell) => cell.ratio && cell.verdict === "REGRESSION").sort((x, y) => y.ratio - x.ratio)[0];
  const how = first.bad.every((cell) => cell.verdict === "REGRESSION") ? "slower" : "slower or wrong";
  const more = others.length ? ` (and to ${others.length} more that ${others.length === 1 ? "is" : "are"} worse)` : "";
  return ["identical kernels to ", linked(tag, first), `, which is ${how} in ${cells(first.bad.length)}`, ...(slow ? [", at most ", cellLink(slow)] : []), more];
}

function losses(tag, row) {
  const slower = row.worse - row.lost;
  const found = [];
  if (row.lost) found.push([`${cells(row.lost)} lost or wrong`]);
  if (slower) found.push([`${cells(slower)} slower, at most `, cellLink(row.slow)]);
  if (!row.worse && row.more[0]) found.push([`${cells(row.more[0])} of a larger tier slower or lost`]);
  if (row.twins.length) found.push(twins(tag, row));
  const how = found.length ? " has the smallest largest loss: " : " is shown slower nowhere, but is not measured in full";
  return [how, ...found.flatMap((part, i) => (i ? [", and ", ...part] : part))];
}

function across(tag, row, rows) {
  if (!row.across) return [];
  const beside = best(rows.filter((other) => !other.across && other.clean && other.faster));
  const unseen = ` It is compared across campaigns, where changes of up to ${(settings.margins[1] * 100).toFixed(0)} % go unseen`;
  return beside ? [`${unseen}; measured side by side, the choice is `, linked(tag, beside), ": ", ...gains(beside), ...open(beside), "."] : [`${unseen}.`];
}

function sentence(tag, newer, older, newest) {
  const top = best(newer);
  const back = best(older.filter((row) => row.clean && row.faster && (!top?.clean || row.saved > top.saved)));
  const said = [];
  if (!top) said.push(`${newest ? `${tag} is the newest release measured` : `No newer release can be compared with ${tag}: no such cell has data`}${back ? "" : ", and no older one is faster without being slower elsewhere"}.`);
  else if (!top.clean) said.push(`From ${tag}, no newer release is shown to be free of losses. `, linked(tag, top), ...losses(tag, top), "; ", ...gains(top), ...open(top), ".");
  else if (!top.faster) said.push(`From ${tag}, no newer release is faster without being slower elsewhere. `, linked(tag, top), " is shown slower nowhere", ...open(top), ".");
  else said.push(`From ${tag}, go to `, linked(tag, top), `: none of ${cells(top.known)} is shown slower or lost, `, ...gains(top), ...open(top), ".");
  if (top) said.push(...across(tag, top, newer));
  if (back) said.push(" Going back to ", linked(tag, back), " is shown to cost nothing, and ", ...gains(back), ...open(back), back.across ? ", compared across campaigns." : ".");
  return [element("p", { className: "answer" }, ...said), top];
}

function extreme(found) {
  if (!found) return element("td", { className: "num extreme" }, "–");
  return element("td", { className: "num extreme" }, cellLink(found), element("br"), element("span", { className: "why" }, familyOf(found.place)));
}

function typical(row, family) {
  const timed = row.cells.filter((cell) => cell.ratio && familyOf(cell.place) === family);
  if (!timed.length) return element("td", { className: "num" }, "–");
  const margin = settings.margins[timed.some((cell) => cell.across) ? 1 : 0];
  const sorted = timed.map((cell) => cell.ratio).sort((x, y) => x - y);
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const verdict = middle > 1 + margin ? "REGRESSION" : middle < 1 - margin ? "IMPROVEMENT" : "SAME";
  const sign = verdict === "SAME" ? "" : `${VERDICTS[verdict][2]} `;
  return element("td", { className: `num v-${verdict.toLowerCase()}` }, `${sign}${middle.toFixed(3)}`);
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
    verdict.append(element("span", { className: "missing" }, "not compared: no such cell was measured in either"));
    return element("tr", {}, name, verdict, ...Array.from({ length: 3 + families.length }, () => element("td", { className: "num" }, "–")));
  }
  verdict.append(badge(row.counts[0][0]), ...small(element("a", { href: compareOf(tag, row.tag) }, `compare (${row.tier})`), row.across ? ", across campaigns" : ""));
  if (row.more[0] + row.more[1]) verdict.append(...small(`larger tier: ${row.more[0]} worse, ${row.more[1]} faster`));
  if (row.twins.length) verdict.append(...small(...twins(tag, row)));
  const counts = element("td", {}, element("span", { className: "counts" }, ...row.counts.map(([v, n]) => count(v, n))));
  const made = element("tr", { className: row.chosen ? "chosen" : "" }, name, verdict, counts, extreme(row.slow), extreme(row.fast), ...families.map((f) => typical(row, f)));
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

// What the address asks for and is not here: said, so that no other answer is taken for it.
function unknown(asked) {
  const known = [order, ["", ...settings.families], ["", ...settings.backends]];
  const missing = asked.slice(0, 3).filter((text, i) => (i || text) && !known[i].includes(text));
  if (!missing.length) return [];
  return [element("p", { className: "note" }, `Not measured here: ${missing.join(", ")}. Below is the answer for ${form.tag.value}, ${form.family.value || "all families"}, ${form.backend.selectedOptions[0].text}.`)];
}

function nothing(family) {
  if (!settings.cells.length) return "No two releases were measured: nothing to compare.";
  return `No cell that all releases have is of ${family || "any family"} and of ${form.backend.selectedOptions[0].text}.`;
}

async function update() {
  const asked = location.hash.slice(1).split("/").map(decoded);
  const tag = order.includes(asked[0]) ? asked[0] : settings.default;
  const family = settings.families.includes(asked[1]) ? asked[1] : "";
  const backend = settings.backends.includes(asked[2]) ? asked[2] : "";
  form.tag.value = tag;
  form.family.value = family;
  form.backend.value = backend;
  document.title = `From ${tag} · attention-regress`;
  try {
    const pairs = await load("upgrades", tag);
    const wanted = (place) => (!family || familyOf(place) === family) && (!backend || kindOf(place) === backend);
    const families = settings.families.filter((f) => settings.cells.some((place) => wanted(place) && familyOf(place) === f));
    const rows = settings.releases.map(([other, day]) => ({ ...total(other, pairs[other], wanted), day })).reverse();
    findLosses(rows);
    const [newer, older] = [1, -1].map((side) => rows.filter((row) => side * (order.indexOf(row.tag) - order.indexOf(tag)) > 0));
    const known = (group) => group.filter((row) => row.known);
    if (!families.length) {
      answer.replaceChildren(...unknown(asked), message(nothing(family)));
      choices.replaceChildren();
      return;
    }
    const [text, top] = sentence(tag, known(newer), known(older), !newer.length);
    if (top) top.chosen = true;
    answer.replaceChildren(...unknown(asked), text);
    choices.replaceChildren(table([["Newer", newer], ["Older: going back", older]], tag, families));
  } catch (error) {
    answer.replaceChildren(message(error.message));
    choices.replaceChildren();
  }
}

form.addEventListener("change", () => { location.hash = hashOf(form.tag.value, form.family.value, form.backend.value); });
addEventListener("hashchange", update);
update();
