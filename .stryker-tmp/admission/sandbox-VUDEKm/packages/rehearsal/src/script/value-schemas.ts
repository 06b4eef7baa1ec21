import { z } from "zod";

const msPerUnit: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 };
const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m)$/;

/** A duration such as `200ms`, `1.5s` or `2m`, parsed to milliseconds. */
export const durationSchema = z
  .union([z.number().min(0), z.string()])
  .superRefine((value, context) => {
    if (typeof value === "number" || durationPattern.test(value)) return;
    context.addIssue({
      code: "custom",
      message: `${JSON.stringify(value)} is not a duration`,
      params: { hint: "Use a duration such as `200ms`, `1.5s` or `2m`." },
    });
  })
  .transform(toMilliseconds);

function toMilliseconds(value: number | string): number {
  if (typeof value === "number") return value;
  const [, amount, unit] = durationPattern.exec(value) ?? [];
  return Number(amount ?? 0) * (msPerUnit[unit ?? ""] ?? 0);
}

/** Text to match: plain text, or a regular expression between slashes. */
export const patternSchema = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    try {
      toTextMatcher(text);
    } catch (cause) {
      context.addIssue({
        code: "custom",
        message: cause instanceof Error ? cause.message : "invalid regular expression",
        params: { hint: "Correct the expression, or remove the slashes to match plain text." },
      });
    }
  });

export type TextMatcher = (text: string) => boolean;

export function toTextMatcher(text: string): TextMatcher {
  const [, source, flags] = /^\/(.+)\/([dimsuv]*)$/s.exec(text) ?? [];
  if (source === undefined) return (other) => other.includes(text);
  const expression = new RegExp(source, flags);
  return (other) => expression.test(other);
}
