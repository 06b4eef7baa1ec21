import type { Look } from "./look.ts";
import { wrap } from "./width.ts";

/** A label and what stands beside it: nothing, a line, or several. */
export type Field = [label: string, value: string | string[] | null | undefined];

/** Labelled values one under the other; those without a value are left out. */
export function fieldLines(fields: Field[], look: Look): string[] {
  const labelWidth = Math.max(11, ...fields.map(([label]) => label.length)) + 2;
  const room = look.width === undefined ? Infinity : Math.max(look.width - labelWidth - 2, 20);
  return fields.flatMap(([label, value]) => {
    const lines = [value ?? []].flat().flatMap((text) => text.split("\n"));
    return lines
      .flatMap((line) => wrap(line, room))
      .map((line, index) => {
        const name = index === 0 ? label : "";
        return `  ${look.colors.dim(name.padEnd(labelWidth))}${line}`.trimEnd();
      });
  });
}
