import xterm from "@xterm/headless";
import { rowsOf } from "./terminal-rows.mjs";

const secondsPerKey = 0.06;
const maxPauseSeconds = 0.9;
const endPauseSeconds = 6;

/**
 * Records which text each terminal row showed in which time span, and the scroll position. Long
 * pauses are shortened.
 */
export async function recordFilm(typed, chunks, { columns, rows }) {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 1_000,
    allowProposedApi: true,
  });
  const film = { rows: [], scrolls: [], length: 0 };
  let now = 0;
  for (const { wait, text } of [...prompt(typed), ...shortened(withoutTokens(chunks))]) {
    now += wait;
    await new Promise((done) => terminal.write(text, done));
    takeShots(film, terminal, now);
  }
  film.length = now + endPauseSeconds;
  for (const shots of film.rows) closeShots(shots, film.length);
  return film;
}

function prompt(typed) {
  const letters = [...typed].map((text) => ({ wait: secondsPerKey, text }));
  return [{ wait: 0, text: "\x1b[32m$\x1b[39m " }, ...letters, { wait: 0.4, text: "\r\n" }];
}

function shortened(chunks) {
  let last = chunks[0]?.at ?? 0;
  return chunks.map(({ at, text }) => {
    const wait = Math.min(at - last, maxPauseSeconds);
    last = at;
    return { wait, text };
  });
}

/** Removes login codes. A code that is split across two chunks is joined first. */
function withoutTokens(chunks) {
  let held = "";
  return chunks.map(({ at, text }, index) => {
    const whole = held + text;
    const [open = ""] = /login#[\w-]*$/.exec(whole) ?? [];
    held = index < chunks.length - 1 ? open : "";
    return {
      at,
      text: whole.slice(0, whole.length - held.length).replaceAll(/login#[\w-]+/g, "login#…"),
    };
  });
}

function takeShots(film, terminal, now) {
  const { baseY } = terminal.buffer.active;
  if (film.scrolls.at(-1)?.by !== baseY) film.scrolls.push({ at: now, by: baseY });
  rowsOf(terminal).forEach((runs, row) => {
    film.rows[row] ??= [];
    const shots = film.rows[row];
    const isSame = JSON.stringify(shots.at(-1)?.runs ?? []) === JSON.stringify(runs);
    if (isSame && shots.at(-1)?.until === undefined) return;
    closeShots(shots, now);
    if (runs.length > 0) shots.push({ from: now, until: undefined, runs });
  });
}

/** Drops text that was visible for less than 20 ms. */
function closeShots(shots, now) {
  const last = shots.at(-1);
  if (last === undefined || last.until !== undefined) return;
  if (now - last.from < 0.02) shots.pop();
  else last.until = now;
}
