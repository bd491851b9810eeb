// Runs before the page is painted: a chosen theme wins over the system's.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // Some browsers keep no storage for file://; the system's theme is used.
}
