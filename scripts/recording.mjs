// The demo as a moving picture, from a real run of it in a terminal:
//   node scripts/recording.mjs
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { filmOf } from "./recording/film.mjs";
import { movingPicture } from "./recording/moving-picture.mjs";
import { record } from "./recording/record.mjs";

const root = resolve(import.meta.dirname, "..");
const size = { columns: 100, rows: 30 };
const shown = "npm run demo";
const file = resolve(root, "docs/pictures/demo.svg");

const chunks = await record({
  command: "npm run --silent demo",
  cwd: root,
  leaveAt: "until you press Ctrl-C",
  ...size,
});
const film = await filmOf(shown, chunks, size);
const picture = movingPicture(film, {
  title: `${shown}: three agents, killed in the middle`,
  ...size,
});
writeFileSync(file, picture);
process.stdout.write(
  `${file}: ${Math.round(picture.length / 1000)} kB, ${film.length.toFixed(1)} s\n`,
);
