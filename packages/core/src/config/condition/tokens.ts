import { Wrong } from "../schema/wrong.ts";

export interface Token {
  kind: "number" | "text" | "name" | "sign" | "end";
  text: string;
  /** Where it begins, counted from one. */
  column: number;
}

/** The words of a condition in their order, closed by an end. */
export function tokensOf(text: string): Token[] | Wrong {
  const tokens: Token[] = [];
  let rest = text;
  while (rest.trim() !== "") {
    const token = next(rest, text.length - rest.length);
    if (token instanceof Wrong) return token;
    tokens.push(token.token);
    rest = rest.slice(token.length);
  }
  return [...tokens, { kind: "end", text: "", column: text.length + 1 }];
}

const shapes: [Token["kind"], RegExp][] = [
  ["number", /^-?\d+(?:\.\d+)?(?![\w.])/],
  ["text", /^(?:"[^"]*"|'[^']*')/],
  ["name", /^[A-Za-z_][\w-]*(?:\.[\w-]+)*/],
  ["sign", /^(?:==|!=|<=|>=|<|>|\(|\))/],
];

/** What people write who know another language, and what it is here. */
const foreign: Record<string, string> = {
  "&": "Write `and`.",
  "|": "Write `or`.",
  "!": "Write `not`, or `!=`.",
  "=": "Write `==` to compare.",
};

function next(rest: string, at: number): { token: Token; length: number } | Wrong {
  const blank = rest.length - rest.trimStart().length;
  const ahead = rest.slice(blank);
  const column = at + blank + 1;
  for (const [kind, shape] of shapes) {
    const [found] = shape.exec(ahead) ?? [];
    if (found !== undefined) {
      return { token: { kind, text: found, column }, length: blank + found.length };
    }
  }
  const [sign = ""] = ahead;
  const message = /["']/.test(sign)
    ? `a text begins at column ${column} and does not end`
    : `\`${sign}\` at column ${column} means nothing here`;
  return new Wrong(
    message,
    foreign[sign] ?? "Compare as in `cost_usd > 1 and outcome != timeout`.",
  );
}
