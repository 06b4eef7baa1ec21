import { z } from "zod";

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 };
const written = /^(\d+(?:\.\d+)?)(ms|s|m)$/;

/** A length of time in milliseconds, written `200ms`, `1.5s` or `2m`. */
export const duration = z
  .union([z.number().min(0), z.string()])
  .superRefine((value, context) => {
    if (typeof value === "number" || written.test(value)) return;
    context.addIssue({
      code: "custom",
      message: `${JSON.stringify(value)} is not a length of time`,
      params: { hint: "Write for example `200ms`, `1.5s` or `2m`." },
    });
  })
  .transform(milliseconds);

function milliseconds(value: number | string): number {
  if (typeof value === "number") return value;
  const [, amount, unit] = written.exec(value) ?? [];
  return Number(amount ?? 0) * (units[unit ?? ""] ?? 0);
}

/** Text to find: as it stands, or a regular expression between slashes. */
export const patternText = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    try {
      toPattern(text);
    } catch (cause) {
      context.addIssue({
        code: "custom",
        message: cause instanceof Error ? cause.message : "invalid regular expression",
        params: { hint: "Correct the expression, or drop the slashes to find plain text." },
      });
    }
  });

export type Pattern = (text: string) => boolean;

export function toPattern(text: string): Pattern {
  const [, source, flags] = /^\/(.+)\/([dimsuv]*)$/s.exec(text) ?? [];
  if (source === undefined) return (other) => other.includes(text);
  const expression = new RegExp(source, flags);
  return (other) => expression.test(other);
}
