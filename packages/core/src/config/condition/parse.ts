import { didYouMean } from "../../document/did-you-mean.ts";
import { Wrong } from "../schema/wrong.ts";
import { type Token, tokensOf } from "./tokens.ts";

/** `when` of a hook as a tree: comparisons of what is known of a job, joined by and, or, not. */
export type Condition =
  | { kind: "and" | "or"; parts: Condition[] }
  | { kind: "not"; part: Condition }
  | { kind: "compare"; sign: Sign; left: Operand; right: Operand }
  | { kind: "holds"; operand: Operand };

export type Operand = { kind: "fact"; path: string[] } | { kind: "value"; value: Scalar };
export type Scalar = string | number | boolean | null;
export type Sign = (typeof signs)[number];

/** What a condition may ask about; `metadata` and `report` have whatever the agent wrote. */
const facts = [
  "outcome",
  "status",
  "cost_usd",
  "duration_seconds",
  "attempts",
  "agent",
  "schedule",
  "trigger",
  "metadata",
  "report",
] as const;

const agentsOwn = ["metadata", "report"];
const signs = ["==", "!=", "<", "<=", ">", ">="] as const;
const longest = 1_000;
const deepest = 30;

export function parseCondition(text: string): Condition | Wrong {
  if (text.length > longest) {
    return new Wrong("the condition is too long", "Let a shell hook decide instead.");
  }
  const tokens = tokensOf(text);
  if (tokens instanceof Wrong) return tokens;
  try {
    return new Parser(tokens).whole();
  } catch (error) {
    if (error instanceof Unreadable) return error.wrong;
    throw error;
  }
}

class Unreadable extends Error {
  constructor(readonly wrong: Wrong) {
    super(wrong.message);
  }
}

/** By descent: or, and, not, comparison; each binds closer than the one before. */
class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: Token[]) {}

  whole(): Condition {
    const condition = this.joined("or", () => this.joined("and", () => this.single()));
    if (this.token.kind === "end") return condition;
    throw unreadable(unexpected(this.token), "Join comparisons with `and` or `or`.");
  }

  private joined(word: "and" | "or", part: () => Condition): Condition {
    const first = part();
    const parts = [first];
    while (this.takes("name", word)) parts.push(part());
    return parts.length === 1 ? first : { kind: word, parts };
  }

  private single(): Condition {
    this.depth += 1;
    if (this.depth > deepest) {
      throw unreadable("the condition is nested too deeply", "Let a shell hook decide instead.");
    }
    const condition = this.takes("name", "not")
      ? { kind: "not" as const, part: this.single() }
      : this.takes("sign", "(")
        ? this.inParentheses()
        : this.comparison();
    this.depth -= 1;
    return condition;
  }

  private inParentheses(): Condition {
    const inner = this.joined("or", () => this.joined("and", () => this.single()));
    if (this.takes("sign", ")")) return inner;
    throw unreadable(`a \`)\` is missing at column ${this.token.column}`, "Close what you opened.");
  }

  private comparison(): Condition {
    const left = this.operand(false);
    const sign = signs.find((one) => this.takes("sign", one));
    if (sign === undefined) return { kind: "holds", operand: left };
    return { kind: "compare", sign, left, right: this.operand(true) };
  }

  /** On the right a bare word is a text, so that `outcome == timeout` needs no quotes. */
  private operand(onTheRight: boolean): Operand {
    const { token } = this;
    const read = readers[token.kind];
    if (read === undefined) {
      const found = token.kind === "end" ? "the condition breaks off" : unexpected(token);
      throw unreadable(found, `Name one of ${facts.join(", ")}, or a value.`);
    }
    this.at += 1;
    return read(token, onTheRight);
  }

  private takes(kind: Token["kind"], text: string): boolean {
    const isNext = this.token.kind === kind && this.token.text === text;
    if (isNext) this.at += 1;
    return isNext;
  }

  private get token(): Token {
    return this.tokens[this.at] ?? { kind: "end", text: "", column: 1 };
  }
}

const readers: Partial<Record<Token["kind"], (token: Token, onTheRight: boolean) => Operand>> = {
  number: numberOf,
  text: textOf,
  name: nameOf,
};

function numberOf({ text }: Token): Operand {
  return { kind: "value", value: Number(text) };
}

function textOf({ text }: Token): Operand {
  return { kind: "value", value: text.slice(1, -1) };
}

const words = new Map<string, Scalar>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function nameOf({ text, column }: Token, onTheRight: boolean): Operand {
  const word = words.get(text);
  if (word !== undefined) return { kind: "value", value: word };
  const path = text.split(".");
  const [root = ""] = path;
  const isFact = facts.some((fact) => fact === root);
  if (isFact && (agentsOwn.includes(root) || path.length === 1)) return { kind: "fact", path };
  if (onTheRight && path.length === 1) return { kind: "value", value: text };
  const meant = didYouMean(root, [...facts]);
  const hint = meant ? `Did you mean \`${meant}\`?` : `There are ${facts.join(", ")}.`;
  throw unreadable(`nothing is known of \`${text}\` (column ${column})`, hint);
}

function unexpected({ text, column }: Token): string {
  return `\`${text}\` at column ${column} is not expected`;
}

function unreadable(message: string, hint: string): Unreadable {
  return new Unreadable(new Wrong(message, hint));
}
