/** What a model might read as a tag of a fence is replaced by this. */
const removed = "[fence mark removed]";

/**
 * Text without anything that looks like `<untrusted-data` or `</untrusted-data`: in any case, with
 * spaces or invisible characters between, as an entity or escape, or in letters that look alike.
 */
export function withoutFenceMarks(text: string): string {
  const { skeleton, origins } = skeletonOf(text);
  let result = "";
  let end = 0;
  for (const { index, 0: found } of skeleton.matchAll(mark)) {
    const from = origins[index] ?? end;
    result += text.slice(end, from) + removed;
    end = origins[index + found.length] ?? text.length;
  }
  return result + text.slice(end);
}

const mark =
  /(?:<|&lt;?|&#0*60;?|&#x0*3c;?|\\u003c|\\x3c)(?:\/|\\|&#0*47;?|&#x0*2f;?|&sol;?)*untrusteddata/g;

interface Skeleton {
  skeleton: string;
  /** Where in the text each unit of the skeleton begins; one more for the end. */
  origins: number[];
}

/** The text as it looks: small Latin letters, without spaces, dashes and what is invisible. */
function skeletonOf(text: string): Skeleton {
  let skeleton = "";
  const origins: number[] = [];
  let at = 0;
  for (const char of text) {
    const shown = isPlain(char) ? char.toLowerCase() : looksOf(char);
    for (let unit = 0; unit < shown.length; unit++) origins.push(at);
    skeleton += shown;
    at += char.length;
  }
  origins.push(at);
  return { skeleton, origins };
}

function isPlain(char: string): boolean {
  return /[!-,.-^`-~]/.test(char);
}

function looksOf(char: string): string {
  if (ignored.test(char)) return "";
  const plain = char.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return [...plain].map((one) => lookAlikes.get(one) ?? one).join("");
}

const ignored = /^[\s\p{Z}\p{C}\p{M}\p{Pd}_\u2212]$/u;

const lookAlikes = new Map(
  Object.entries({
    "<": "‹〈⟨❮❬«≺˂ᐸ⧼",
    "/": "⁄∕⧸╱⟋",
    u: "υսꭎʋцᴜ",
    n: "ոռпηɴ",
    t: "тτᴛ",
    r: "гᴦʀ",
    s: "ѕꜱ",
    e: "еєҽᴇɛ",
    d: "ԁժɗᴅ",
    a: "аαɑᴀ",
  }).flatMap(([plain, others]) => [...others].map((other) => [other, plain] as const)),
);
