import { type InputField, inputFields, visible } from "@herdctl/server/contract";
import { structuredPatch } from "diff";
import { fieldsOf } from "../../job/fields.ts";

interface Hunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

/** What a person sees of a tool's input before they allow it: together, the parts are all of it. */
export interface AskedParts {
  change: { path: string; hunks: Hunk[] } | null;
  fields: InputField[];
}

/** Tools of Claude Code that change a file, with the fields that a diff shows. */
const changes: Record<string, { before: string | null; after: string }> = {
  Edit: { before: "old_string", after: "new_string" },
  Write: { before: null, after: "content" },
};

export function askedParts(tool: string, input: unknown): AskedParts {
  const known = Object.hasOwn(changes, tool) ? changes[tool] : undefined;
  const fields = fieldsOf(input);
  const path = fields.file_path;
  const before = known?.before ? fields[known.before] : "";
  const after = known ? fields[known.after] : undefined;
  const isChange =
    typeof path === "string" && typeof before === "string" && typeof after === "string";
  if (!known || !isChange || before === after) return { change: null, fields: inputFields(input) };
  const shown = ["file_path", known.before, known.after];
  const rest = Object.entries(fields).filter(([name]) => !shown.includes(name));
  return {
    change: { path: visible(path), hunks: hunksOf(before, after) },
    fields: inputFields(Object.fromEntries(rest)),
  };
}

/** Compared as it is, so that a changed line end or tab counts, and shown with nothing hidden. */
function hunksOf(before: string, after: string): Hunk[] {
  const { hunks } = structuredPatch("", "", before, after, undefined, undefined, { context: 3 });
  return hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart,
    newStart,
    lines: lines.flatMap((line) => {
      // It follows the last line of a text that ends without a line break.
      if (line.startsWith("\\")) return [];
      const text = visible(line.slice(1)).replaceAll("\n", "\\x0a");
      return [`${line.charAt(0)}${text}`];
    }),
  }));
}
