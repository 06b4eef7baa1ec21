import { z } from "zod";

/** Why a text is invalid, and how to fix it. Users see both. */
export class InvalidValue {
  constructor(
    readonly message: string,
    readonly hint: string,
  ) {}
}

/** A text with a special form: decoded into a value, and encoded again for `config show`. */
export function textCodec<T extends z.ZodType>(
  output: T,
  read: (text: string) => z.input<T> | InvalidValue,
  write: (value: z.input<T>) => string,
  examples: string[],
) {
  return z.codec(z.string().meta({ examples }), output, {
    decode: (text, context) => {
      const value = read(text);
      if (!(value instanceof InvalidValue)) return value;
      context.issues.push(toIssue(text, value));
      return z.NEVER;
    },
    encode: write,
  });
}

/** A string that must pass a check. */
export function checkedText(check: Check) {
  return z.string().check((context) => {
    const invalid = check(context.value);
    if (invalid) context.issues.push(toIssue(context.value, invalid));
  });
}

/** For `.check()` of an object: a check that combines several keys. */
export function checkedValue<T>(check: (value: T) => InvalidValue | undefined) {
  return ({ value, issues }: z.core.ParsePayload<T>): void => {
    const invalid = check(value);
    if (invalid) issues.push(toIssue(value, invalid));
  };
}

type Check = (text: string) => InvalidValue | undefined;

/** For slow checks: a large fleet repeats the same few texts. */
export function memoizeCheck(check: Check): Check {
  const results = new Map<string, InvalidValue | undefined>();
  return (text) => {
    if (!results.has(text)) results.set(text, check(text));
    return results.get(text);
  };
}

function toIssue(input: unknown, invalid: InvalidValue) {
  return {
    code: "custom" as const,
    input,
    message: invalid.message,
    params: { hint: invalid.hint },
  };
}
