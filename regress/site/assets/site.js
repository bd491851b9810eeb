// Theme, filters, sortable tables and copy buttons. Pages can be read without any of it.
"use strict";

const button = document.getElementById("theme");
button.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // Without storage the choice holds for this page.
  }
});

// On a phone the pages' names scroll sideways: the current one is brought into view.
const current = document.querySelector("nav [aria-current]");
if (current) current.parentNode.scrollLeft = current.offsetLeft - current.parentNode.offsetLeft - 16;

for (const input of document.querySelectorAll("[data-filter]")) {
  const rows = [...document.querySelectorAll(`#${input.dataset.filter} tbody tr`)];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const count = document.querySelector(`[data-count="${input.dataset.filter}"]`);
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  input.addEventListener("input", () => {
    history.replaceState(null, "", `#${encodeURIComponent(input.value)}`);
    apply();
  });
  input.value = decoded(location.hash.slice(1));
  apply();
}

const number = (text) => {
  const found = text.replaceAll(",", "").match(/^-?[\d.]+/);
  return found ? Number(found[0]) : NaN;
};
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const sorter = document.createElement("button");
    sorter.type = "button";
    sorter.append(...head.childNodes);
    head.append(sorter);
    sorter.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const keyed = [...body.rows].map((row) => [row.cells[column].textContent.trim(), row]);
      const numeric = head.classList.contains("num");
      keyed.sort(([a], [b]) => {
        if (!numeric) return (up ? 1 : -1) * a.localeCompare(b);
        const [x, y] = [number(a), number(b)];
        if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
        return (up ? 1 : -1) * (x - y);
      });
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

for (const copy of document.querySelectorAll(".copy")) {
  copy.addEventListener("click", async () => {
    const text = copy.parentNode.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(copy.parentNode.querySelector("code"));
      copy.textContent = "Selected";
    }
  });
}
