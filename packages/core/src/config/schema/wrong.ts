import { z } from "zod";

/** What a text fails with: the problem and the remedy, both shown to whoever wrote it. */
export class Wrong {
  constructor(
    readonly message: string,
    readonly hint: string,
  ) {}
}

/** A text with a meaning of its own: read into a value, and written back for `config show`. */
export function meaningful<T extends z.ZodType>(
  output: T,
  read: (text: string) => z.input<T> | Wrong,
  write: (value: z.input<T>) => string,
  examples: string[],
) {
  return z.codec(z.string().meta({ examples }), output, {
    decode: (text, context) => {
      const value = read(text);
      if (!(value instanceof Wrong)) return value;
      context.issues.push(issue(text, value));
      return z.NEVER;
    },
    encode: write,
  });
}

/** A text that stays a text but has to pass a check. */
export function checkedText(check: Check) {
  return z.string().check((context) => {
    const wrong = check(context.value);
    if (wrong) context.issues.push(issue(context.value, wrong));
  });
}

/** For `.check()` of an object whose keys have to fit together. */
export function checkedValue<T>(check: (value: T) => Wrong | undefined) {
  return ({ value, issues }: z.core.ParsePayload<T>): void => {
    const wrong = check(value);
    if (wrong) issues.push(issue(value, wrong));
  };
}

type Check = (text: string) => Wrong | undefined;

/** For checks that take their time: a large fleet says the same few texts over and over. */
export function remembered(check: Check): Check {
  const known = new Map<string, Wrong | undefined>();
  return (text) => {
    if (!known.has(text)) known.set(text, check(text));
    return known.get(text);
  };
}

function issue(input: unknown, wrong: Wrong) {
  return {
    code: "custom" as const,
    input,
    message: wrong.message,
    params: { hint: wrong.hint },
  };
}
