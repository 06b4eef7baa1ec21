import { InvalidValue } from "../schema/codec.ts";
import { didYouMean } from "../yaml/did-you-mean.ts";
import { type Token, tokenize } from "./tokenizer.ts";

/**
 * `when` of a hook as a syntax tree: comparisons of facts about a job, joined by `and`, `or` and
 * `not`.
 */
export type Condition =
  | { kind: "and" | "or"; parts: Condition[] }
  | { kind: "not"; part: Condition }
  | { kind: "compare"; sign: ComparisonOperator; left: Operand; right: Operand }
  | { kind: "holds"; operand: Operand };

export type Operand = { kind: "fact"; path: string[] } | { kind: "value"; value: ConditionValue };
export type ConditionValue = string | number | boolean | null;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/**
 * The facts that a condition may use. `metadata` and `report` have any keys that the agent wrote.
 */
const factNames = [
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
  "request",
  "tool",
] as const;

const agentWrittenFacts = ["metadata", "report"];
const comparisonOperators = ["==", "!=", "<", "<=", ">", ">="] as const;
const maxConditionCharacters = 1_000;
const maxNestingDepth = 30;

export function parseCondition(text: string): Condition | InvalidValue {
  if (text.length > maxConditionCharacters) {
    return new InvalidValue("the condition is too long", "Use a shell hook to decide instead.");
  }
  const tokens = tokenize(text);
  if (tokens instanceof InvalidValue) return tokens;
  try {
    return new ConditionParser(tokens).parseAll();
  } catch (error) {
    if (error instanceof ConditionSyntaxError) return error.invalid;
    throw error;
  }
}

class ConditionSyntaxError extends Error {
  constructor(readonly invalid: InvalidValue) {
    super(invalid.message);
  }
}

/** A recursive descent parser. Precedence from low to high: or, and, not, comparison. */
class ConditionParser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: Token[]) {}

  parseAll(): Condition {
    const condition = this.parseJoined("or", () =>
      this.parseJoined("and", () => this.parseUnary()),
    );
    if (this.token.kind === "end") return condition;
    throw syntaxError(unexpectedTokenText(this.token), "Join comparisons with `and` or `or`.");
  }

  private parseJoined(operator: "and" | "or", part: () => Condition): Condition {
    const first = part();
    const parts = [first];
    while (this.accept("name", operator)) parts.push(part());
    return parts.length === 1 ? first : { kind: operator, parts };
  }

  private parseUnary(): Condition {
    this.depth += 1;
    if (this.depth > maxNestingDepth) {
      throw syntaxError(
        "the condition is nested too deeply",
        "Use a shell hook to decide instead.",
      );
    }
    const condition = this.accept("name", "not")
      ? { kind: "not" as const, part: this.parseUnary() }
      : this.accept("sign", "(")
        ? this.parseParentheses()
        : this.parseComparison();
    this.depth -= 1;
    return condition;
  }

  private parseParentheses(): Condition {
    const inner = this.parseJoined("or", () => this.parseJoined("and", () => this.parseUnary()));
    if (this.accept("sign", ")")) return inner;
    throw syntaxError(
      `a \`)\` is missing at column ${this.token.column}`,
      "Close the parenthesis.",
    );
  }

  private parseComparison(): Condition {
    const left = this.operand(false);
    const sign = comparisonOperators.find((operator) => this.accept("sign", operator));
    if (sign === undefined) return { kind: "holds", operand: left };
    return { kind: "compare", sign, left, right: this.operand(true) };
  }

  /** On the right side, a bare word is a text, so that `outcome == timeout` needs no quotes. */
  private operand(isRightSide: boolean): Operand {
    const { token } = this;
    const read = operandReaders[token.kind];
    if (read === undefined) {
      const found =
        token.kind === "end" ? "the condition ends too early" : unexpectedTokenText(token);
      throw syntaxError(found, `Name one of ${factNames.join(", ")}, or a value.`);
    }
    this.at += 1;
    return read(token, isRightSide);
  }

  private accept(kind: Token["kind"], text: string): boolean {
    const isNext = this.token.kind === kind && this.token.text === text;
    if (isNext) this.at += 1;
    return isNext;
  }

  private get token(): Token {
    return this.tokens[this.at] ?? { kind: "end", text: "", column: 1 };
  }
}

const operandReaders: Partial<
  Record<Token["kind"], (token: Token, isRightSide: boolean) => Operand>
> = {
  number: toNumberOperand,
  text: toTextOperand,
  name: toNameOperand,
};

function toNumberOperand({ text }: Token): Operand {
  return { kind: "value", value: Number(text) };
}

function toTextOperand({ text }: Token): Operand {
  return { kind: "value", value: text.slice(1, -1) };
}

const literalValues = new Map<string, ConditionValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function toNameOperand({ text, column }: Token, isRightSide: boolean): Operand {
  const literal = literalValues.get(text);
  if (literal !== undefined) return { kind: "value", value: literal };
  const path = text.split(".");
  const [root = ""] = path;
  const isFact = factNames.some((fact) => fact === root);
  if (isFact && (agentWrittenFacts.includes(root) || path.length === 1))
    return { kind: "fact", path };
  if (isRightSide && path.length === 1) return { kind: "value", value: text };
  const suggestion = didYouMean(root, [...factNames]);
  const hint = suggestion
    ? `Did you mean \`${suggestion}\`?`
    : `Use one of ${factNames.join(", ")}.`;
  throw syntaxError(`unknown name \`${text}\` at column ${column}`, hint);
}

function unexpectedTokenText({ text, column }: Token): string {
  return `unexpected \`${text}\` at column ${column}`;
}

function syntaxError(message: string, hint: string): ConditionSyntaxError {
  return new ConditionSyntaxError(new InvalidValue(message, hint));
}
