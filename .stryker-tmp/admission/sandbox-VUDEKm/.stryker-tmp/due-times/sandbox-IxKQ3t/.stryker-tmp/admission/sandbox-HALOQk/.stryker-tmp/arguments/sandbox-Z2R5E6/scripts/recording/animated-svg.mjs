const font = { size: 14, width: 8.43, height: 20 };
const edge = { side: 22, top: 52, bottom: 18 };
const colours = {
  c1: "#f4938a",
  c2: "#6fc98f",
  c3: "#e2b45a",
  c4: "#82b7f6",
  c5: "#c4a6f0",
  c6: "#7fc8b1",
  c7: "#ecece6",
  c8: "#a5a89f",
};

/** Renders a terminal recording as an animated SVG without scripts. Respects reduced motion. */
export function renderAnimatedSvg(film, { title, columns, rows }) {
  const width = Math.round(columns * font.width + edge.side * 2);
  const height = rows * font.height + edge.top + edge.bottom;
  const names = new Map();
  const shots = film.rows.flatMap((row, index) =>
    row.map((shot) => shotOf(shot, index, film, names)),
  );
  const lastScroll = film.scrolls.at(-1)?.by ?? 0;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>
text{font:${font.size}px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#ecece6;white-space:pre}
.b{font-weight:700}.d{fill-opacity:.62}
${Object.entries(colours)
  .map(([name, colour]) => `.${name}{fill:${colour}}`)
  .join("")}
.gone{opacity:0}
.scroll{transform:translateY(${-lastScroll * font.height}px);animation:scroll ${film.length.toFixed(2)}s step-end infinite}
g[class^=t],g[class^="gone t"]{animation-duration:${film.length.toFixed(2)}s;animation-timing-function:step-end;animation-iteration-count:infinite}
@keyframes scroll{${scrollFrames(film)}}
${[...names].map(([frames, name]) => `.${name}{animation-name:${name}}@keyframes ${name}{${frames}}`).join("\n")}
@media (prefers-reduced-motion:reduce){.scroll,g[class^=t],g[class^="gone t"]{animation:none}}
</style>
<clipPath id="screen"><rect x="0" y="${edge.top - 14}" width="${width}" height="${height - edge.top - edge.bottom + 20}"/></clipPath>
<rect width="${width}" height="${height}" rx="12" fill="#131412" stroke="#454842"/>
<circle cx="24" cy="20" r="6" fill="#f4938a"/><circle cx="44" cy="20" r="6" fill="#e2b45a"/><circle cx="64" cy="20" r="6" fill="#6fc98f"/>
<g clip-path="url(#screen)"><g class="scroll">
${shots.join("\n")}
</g></g>
</svg>
`;
}

function shotOf({ from, until, runs }, row, film, names) {
  const stays = until >= film.length;
  const frames = [
    from > 0 ? `0%{opacity:0}` : "",
    `${percent(from, film)}{opacity:1}`,
    stays ? "" : `${percent(until, film)}{opacity:0}`,
  ].join("");
  if (!names.has(frames)) names.set(frames, `t${names.size}`);
  const y = edge.top + row * font.height;
  const texts = runs.map((run) => textOf(run, y)).join("");
  return `<g class="${stays ? "" : "gone "}${names.get(frames)}">${texts}</g>`;
}

/** Sets the position and length of each run, so that columns are aligned in any font. */
function textOf({ text, look, from, to }, y) {
  const indent = text.length - text.trimStart().length;
  const x = (edge.side + (from + indent) * font.width).toFixed(1);
  const length = ((to - from - indent) * font.width).toFixed(1);
  const styled = look === "" ? "" : ` class="${look}"`;
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${styled}>${escaped(text.trimStart())}</text>`;
}

/** Of several scrolls at the same percentage, the last one counts. */
function scrollFrames(film) {
  const positions = new Map(film.scrolls.map(({ at, by }) => [percent(at, film), by]));
  return Array.from(
    positions,
    ([time, by]) => `${time}{transform:translateY(${-by * font.height}px)}`,
  ).join("");
}

function percent(at, { length }) {
  return `${((at / length) * 100).toFixed(2)}%`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
