import { InvalidValue } from "../schema/codec.ts";

export interface Token {
  kind: "number" | "text" | "name" | "sign" | "end";
  text: string;
  /** Column of the first character, counted from one. */
  column: number;
}

/** The tokens of a condition, with an `end` token at the end. */
export function tokenize(text: string): Token[] | InvalidValue {
  const tokens: Token[] = [];
  let rest = text;
  while (rest.trim() !== "") {
    const token = readToken(rest, text.length - rest.length);
    if (token instanceof InvalidValue) return token;
    tokens.push(token.token);
    rest = rest.slice(token.length);
  }
  return [...tokens, { kind: "end", text: "", column: text.length + 1 }];
}

const tokenPatterns: [Token["kind"], RegExp][] = [
  ["number", /^-?\d+(?:\.\d+)?(?![\w.])/],
  ["text", /^(?:"[^"]*"|'[^']*')/],
  ["name", /^[A-Za-z_][\w-]*(?:\.[\w-]+)*/],
  ["sign", /^(?:==|!=|<=|>=|<|>|\(|\))/],
];

/** Operators of other languages, with what to write instead. */
const foreignOperatorHints: Record<string, string> = {
  "&": "Write `and`.",
  "|": "Write `or`.",
  "!": "Write `not`, or `!=`.",
  "=": "Write `==` to compare.",
};

function readToken(rest: string, at: number): { token: Token; length: number } | InvalidValue {
  const blank = rest.length - rest.trimStart().length;
  const trimmed = rest.slice(blank);
  const column = at + blank + 1;
  for (const [kind, pattern] of tokenPatterns) {
    const [found] = pattern.exec(trimmed) ?? [];
    if (found !== undefined) {
      return { token: { kind, text: found, column }, length: blank + found.length };
    }
  }
  const [sign = ""] = trimmed;
  const message = /["']/.test(sign)
    ? `the text that starts at column ${column} has no closing quote`
    : `unexpected \`${sign}\` at column ${column}`;
  return new InvalidValue(
    message,
    foreignOperatorHints[sign] ??
      "Write a comparison such as `cost_usd > 1 and outcome != timeout`.",
  );
}
