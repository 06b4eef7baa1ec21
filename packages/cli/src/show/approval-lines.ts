import type { Approval } from "@herdctl/core";
import { type Field, fieldLines } from "./fields.ts";
import { visible } from "./harmless.ts";
import type { Look } from "./look.ts";

/** All that a tool wants to do, to the last character: a person is to judge by it. */
export function approvalLines({ tool, input, expires_at }: Approval, look: Look): string[] {
  const { bold, yellow, dim } = look.colors;
  const until = new Date(expires_at).toLocaleTimeString("sv", { timeStyle: "short" });
  return [
    "",
    yellow(`? The agent asks to use ${bold(visible(tool))}`),
    ...fieldLines(inputFields(input), { ...look, width: undefined }),
    dim(`  Without an answer it is denied at ${until}.`),
  ];
}

export function inputFields(input: unknown): Field[] {
  if (typeof input !== "object" || input === null) return [["input", written(input)]];
  return Object.entries(input).map(([name, value]) => [visible(name), written(value)]);
}

function written(value: unknown): string {
  return visible(typeof value === "string" ? value : JSON.stringify(value, null, 2));
}
