/*
 * PostgreSQL text cannot contain U+0000, its UTF-8 cannot contain lone surrogates, and jsonb
 * refuses both as escapes, but a prompt may contain any of them. They are written with a mark, in
 * text and in JSON alike, so that searches match the values in records.
 */

/** A private-use character, which is rarely used. In a text it is doubled. */
const escapeMark = "\uEE00";

const unsafeCharacters =
  /\uEE00|\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const jsonEscapes = /\uEE00|\\ud[89ab]..\\ud[c-f]..|\\u0000|\\ud[89a-f]..|\\./gi;
const markedSequences = /\uEE00(\uEE00|[0-9a-f]{4})/g;

/** Encodes any text so that PostgreSQL can store it. */
export function encodeText(text: string): string {
  return text.replace(
    unsafeCharacters,
    (match) => escapeMark + (match === escapeMark ? escapeMark : toHex(match)),
  );
}

export function decodeText(text: string): string {
  if (!text.includes(escapeMark)) return text;
  return text.replace(markedSequences, (_, match: string) =>
    match === escapeMark ? escapeMark : String.fromCharCode(Number.parseInt(match, 16)),
  );
}

/** Encodes the text of a JSON document for jsonb. */
export function encodeJson(json: string): string {
  if (!json.includes("\\u") && !json.includes(escapeMark)) return json;
  return json.replace(jsonEscapes, (match) => {
    if (match === escapeMark) return escapeMark + escapeMark;
    return refusedEscape.test(match) ? escapeMark + match.slice(2).toLowerCase() : match;
  });
}

export function decodeJson(json: string): string {
  if (!json.includes(escapeMark)) return json;
  return json.replace(markedSequences, (_, match: string) =>
    match === escapeMark ? escapeMark : `\\u${match}`,
  );
}

/** A lone escape; a surrogate pair is a normal character. */
const refusedEscape = /^\\u(?:0000|d[89a-f]..)$/i;

function toHex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
