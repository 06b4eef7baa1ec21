// Records a run of the demo in a terminal as an animated SVG:
//   node scripts/record-demo.mjs
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderAnimatedSvg } from "./recording/animated-svg.mjs";
import { recordFilm } from "./recording/record-film.mjs";
import { record } from "./recording/record-terminal.mjs";

const root = resolve(import.meta.dirname, "..");
const size = { columns: 100, rows: 30 };
const displayedCommand = "npm run demo";
const file = resolve(root, "docs/pictures/demo.svg");

const chunks = await record({
  command: "npm run --silent demo",
  cwd: root,
  leaveAt: "until you press Ctrl-C",
  ...size,
});
const film = await recordFilm(displayedCommand, chunks, size);
const picture = renderAnimatedSvg(film, {
  title: `${displayedCommand}: three agents survive the kill of their fleet process`,
  ...size,
});
writeFileSync(file, picture);
process.stdout.write(
  `${file}: ${Math.round(picture.length / 1000)} kB, ${film.length.toFixed(1)} s\n`,
);
