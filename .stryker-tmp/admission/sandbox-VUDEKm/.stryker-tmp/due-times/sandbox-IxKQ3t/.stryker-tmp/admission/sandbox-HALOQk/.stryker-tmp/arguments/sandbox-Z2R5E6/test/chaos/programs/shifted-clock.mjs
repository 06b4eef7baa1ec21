// Preloaded into a fleet (`NODE_OPTIONS=--import=…`): its clock follows the file CLOCK,
// `{ "ahead": ms, "speed": n }`, and so do its timers. Nothing else changes.
import { readFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";

const RealDate = Date;
const began = RealDate.now();
const read = () => JSON.parse(readFileSync(process.env.CLOCK, "utf8"));
const { speed } = read();
let ahead = 0;

const look = () => {
  try {
    ahead = read().ahead;
  } catch {
    // The file is being written.
  }
};
look();
const realSetInterval = setInterval;
realSetInterval(look, 50).unref();

const now = () => Math.round(began + (RealDate.now() - began) * speed + ahead);

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static now() {
    return now();
  }
};

if (speed !== 1) {
  const timers = [globalThis, createRequire(import.meta.url)("node:timers")];
  for (const place of timers) {
    for (const name of ["setTimeout", "setInterval"]) {
      const real = place[name];
      const quick = (work, wait = 0, ...rest) => real(work, wait / speed, ...rest);
      place[name] = Object.assign(quick, real);
    }
  }
  const promised = createRequire(import.meta.url)("node:timers/promises");
  const real = promised.setTimeout;
  promised.setTimeout = (wait = 0, ...rest) => real(wait / speed, ...rest);
  syncBuiltinESMExports();
}
