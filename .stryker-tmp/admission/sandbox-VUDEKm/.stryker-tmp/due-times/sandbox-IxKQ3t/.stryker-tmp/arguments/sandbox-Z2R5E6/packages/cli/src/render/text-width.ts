/** Number of terminal columns that a text occupies. */
export function displayWidth(text: string): number {
  if (singleWidthText.test(text)) return text.length;
  let width = 0;
  for (const { segment } of splitGraphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts a text to a number of columns; `…` marks the cut. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (singleWidthText.test(text)) return `${text.slice(0, Math.max(0, width - 1)).trimEnd()}…`;
  let taken = "";
  let room = width - 1;
  for (const { segment } of splitGraphemes(text)) {
    room -= graphemeWidth(segment);
    if (room < 0) break;
    taken += segment;
  }
  return `${taken.trimEnd()}…`;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/** Wraps a line between words, and inside words that are longer than a line. */
export function wrapLine(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const finishedLines: string[] = [];
  let current = "";
  for (const part of (line.match(/\s+|\S+/g) ?? []).flatMap((word) => splitLongWord(word, width))) {
    if (displayWidth(current) + displayWidth(part) <= width) {
      current += part;
      continue;
    }
    finishedLines.push(current.trimEnd());
    current = part.trimStart();
  }
  return [...finishedLines, current];
}

function splitLongWord(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word];
  const parts = [""];
  for (const { segment } of splitGraphemes(word)) {
    const last = parts.at(-1) ?? "";
    if (displayWidth(last) + graphemeWidth(segment) > width) parts.push(segment);
    else parts[parts.length - 1] = last + segment;
  }
  return parts;
}

/** Fast path: ASCII and herdctl's own marks occupy one column each. */
const singleWidthText = /^[\x20-\x7e·–…‖○●◐◔■▶✓✗]*$/;
const zeroWidthStart = /^[\p{Mark}\u200c\u200d]/u;
const doubleWidthStart =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])|\ufe0f/u;

let segmenter: Intl.Segmenter | undefined;

/** Created on demand, because loading its tables takes longer than the rest of a command. */
function splitGraphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidthStart.test(grapheme)) return 0;
  return doubleWidthStart.test(grapheme) ? 2 : 1;
}
