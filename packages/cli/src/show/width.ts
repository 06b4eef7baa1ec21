/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += columnsOf(segment);
  return width;
}

/** At most so many columns, with a mark where something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (plain.test(text)) return `${text.slice(0, Math.max(0, width - 1)).trimEnd()}…`;
  let taken = "";
  let room = width - 1;
  for (const { segment } of graphemesOf(text)) {
    room -= columnsOf(segment);
    if (room < 0) break;
    taken += segment;
  }
  return `${taken.trimEnd()}…`;
}

export function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** A line broken between words, and inside those that are longer than a line. */
export function wrap(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const done: string[] = [];
  let current = "";
  for (const part of (line.match(/\s+|\S+/g) ?? []).flatMap((word) => pieces(word, width))) {
    if (widthOf(current) + widthOf(part) <= width) {
      current += part;
      continue;
    }
    done.push(current.trimEnd());
    current = part.trimStart();
  }
  return [...done, current];
}

function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word];
  const parts = [""];
  for (const { segment } of graphemesOf(word)) {
    const last = parts.at(-1) ?? "";
    if (widthOf(last) + columnsOf(segment) > width) parts.push(segment);
    else parts[parts.length - 1] = last + segment;
  }
  return parts;
}

/** ASCII and our own marks, a column each; they cover nearly all that is ever measured. */
const plain = /^[\x20-\x7e·–…‖○●◐◔■▶✓✗]*$/;
const none = /^[\p{Mark}\u200c\u200d]/u;
const double =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])|\ufe0f/u;

let segmenter: Intl.Segmenter | undefined;

/** The tables that this needs take longer to load than the rest of a command. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

function columnsOf(grapheme: string): number {
  if (none.test(grapheme)) return 0;
  return double.test(grapheme) ? 2 : 1;
}
