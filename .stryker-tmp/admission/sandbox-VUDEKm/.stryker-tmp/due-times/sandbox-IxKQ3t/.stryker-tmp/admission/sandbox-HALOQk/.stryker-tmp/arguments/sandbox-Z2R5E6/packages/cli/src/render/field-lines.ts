import type { TerminalStyle } from "./terminal-style.ts";
import { wrapLine } from "./text-width.ts";

export type Field = [label: string, value: string | string[] | null | undefined];

/** Aligned labels and values. Fields without a value are left out. */
export function fieldLines(fields: Field[], style: TerminalStyle): string[] {
  const labelWidth = Math.max(11, ...fields.map(([label]) => label.length)) + 2;
  const room = style.width === undefined ? Infinity : Math.max(style.width - labelWidth - 2, 20);
  return fields.flatMap(([label, value]) => {
    const lines = [value ?? []].flat().flatMap((text) => text.split("\n"));
    return lines
      .flatMap((line) => wrapLine(line, room))
      .map((line, index) => {
        const name = index === 0 ? label : "";
        return `  ${style.colors.dim(name.padEnd(labelWidth))}${line}`.trimEnd();
      });
  });
}
