// What scripts build pages of. Data comes as scripts, since file:// has no fetch().
"use strict";

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

function badge(verdict, text = verdict) {
  return element("span", { className: `verdict v-${verdict.toLowerCase()}` }, `${VERDICTS[verdict][2]} ${text}`);
}

function load(folder, tag) {
  const name = `${folder}/${tag}`;
  if (SITE[name]) return Promise.resolve(SITE[name]);
  return new Promise((resolve, reject) => {
    const script = element("script", { src: `data/${folder}/${encodeURIComponent(tag)}.js` });
    script.onload = () => resolve(SITE[name]);
    script.onerror = () => reject(new Error(`${script.src} is missing: make the site again`));
    document.head.append(script);
  });
}
