// The roofline of a release: the select changes picture, table and address.
"use strict";

const pick = document.getElementById("pick").release;
const figure = document.querySelector('[data-chart="roofline"]');
const box = document.getElementById("rooftable");
const filter = document.getElementById("rooffilter");

function listed() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const points = roofPoints(figure.data, pick.value).sort((a, b) => b.bandwidth - a.bandwidth);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const [text, num] of [["Cell"], ["µs", 1], ["TB/s", 1], ["of the most measured", 1], ["TFLOP/s", 1], ["of the most measured", 1]]) {
    head.append(Object.assign(document.createElement("th"), { textContent: text, className: num ? "num" : "" }));
  }
  const body = table.createTBody();
  for (const p of points) {
    if (!words.every((word) => `${p.workload} ${p.backend} ${p.family}`.includes(word))) continue;
    const row = body.insertRow();
    const link = Object.assign(document.createElement("a"), { className: "cell", href: p.href });
    link.append(Object.assign(document.createElement("code"), { textContent: p.workload }), " ", Object.assign(document.createElement("code"), { className: "backend", textContent: p.backend }));
    row.insertCell().append(link);
    row.cells[0].className = "workload";
    const { bytes, flops } = figure.data.ceilings;
    for (const text of [micro(p.time), (p.bandwidth / 1e12).toFixed(2), percent(p.bandwidth / bytes), (p.rate / 1e12).toFixed(1), percent(p.rate / flops)]) {
      Object.assign(row.insertCell(), { textContent: text, className: "num" });
    }
  }
  box.replaceChildren(table);
}

const percent = (share) => `${(share * 100).toFixed(0)} %`;

function update() {
  const asked = decodeURIComponent(location.hash.slice(1));
  if ([...pick.options].some((option) => option.value === asked)) pick.value = asked;
  figure.data.release = pick.value;
  figure.drawn = 0;
  draw(figure);
  listed();
}

pick.addEventListener("change", () => { location.hash = encodeURIComponent(pick.value); });
filter.addEventListener("input", listed);
addEventListener("hashchange", update);
update();
