/*
 * PostgreSQL's text cannot hold U+0000, its UTF-8 no half of a surrogate pair, and jsonb refuses
 * both as escapes; a prompt may hold either. So they are written with a mark in front, in texts and
 * in JSON alike: what is searched for meets what is read out of a record.
 */

/** A character for private use, which hardly anybody uses; in a text it is written twice. */
const mark = "\uEE00";

const rawWords =
  /\uEE00|\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const jsonWords = /\uEE00|\\ud[89ab]..\\ud[c-f]..|\\u0000|\\ud[89a-f]..|\\./gi;
const markedWords = /\uEE00(\uEE00|[0-9a-f]{4})/g;

/** Any text, as PostgreSQL can hold it. */
export function encodeText(text: string): string {
  return text.replace(rawWords, (word) => mark + (word === mark ? mark : hexOf(word)));
}

export function decodeText(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replace(markedWords, (_, word: string) =>
    word === mark ? mark : String.fromCharCode(Number.parseInt(word, 16)),
  );
}

/** The text of a JSON document, as jsonb takes it. */
export function encodeJson(json: string): string {
  if (!json.includes("\\u") && !json.includes(mark)) return json;
  return json.replace(jsonWords, (word) => {
    if (word === mark) return mark + mark;
    return isRefused.test(word) ? mark + word.slice(2).toLowerCase() : word;
  });
}

export function decodeJson(json: string): string {
  if (!json.includes(mark)) return json;
  return json.replace(markedWords, (_, word: string) => (word === mark ? mark : `\\u${word}`));
}

/** An escape that stands alone: a pair is a character like others. */
const isRefused = /^\\u(?:0000|d[89a-f]..)$/i;

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
