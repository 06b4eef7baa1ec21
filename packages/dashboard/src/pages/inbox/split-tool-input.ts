import { escapeInvisible, formatInputFields, type InputField } from "@herdctl/server/contract";
import { structuredPatch } from "diff";
import { toFields } from "../../transcript/unknown-fields.ts";

interface Hunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

/** The parts of a tool's input as shown for approval. Together they cover the whole input. */
export interface ToolInputParts {
  change: { path: string; hunks: Hunk[] } | null;
  fields: InputField[];
}

/** Claude Code's file editing tools, with the input fields that the diff shows. */
const changeFieldsByTool: Record<string, { before: string | null; after: string }> = {
  Edit: { before: "old_string", after: "new_string" },
  Write: { before: null, after: "content" },
};

export function splitToolInput(tool: string, input: unknown): ToolInputParts {
  const changeFields = Object.hasOwn(changeFieldsByTool, tool)
    ? changeFieldsByTool[tool]
    : undefined;
  const fields = toFields(input);
  const path = fields.file_path;
  const before = changeFields?.before ? fields[changeFields.before] : "";
  const after = changeFields ? fields[changeFields.after] : undefined;
  const isChange =
    typeof path === "string" && typeof before === "string" && typeof after === "string";
  if (!changeFields || !isChange || before === after)
    return { change: null, fields: formatInputFields(input) };
  const diffFields = ["file_path", changeFields.before, changeFields.after];
  const otherFields = Object.entries(fields).filter(([name]) => !diffFields.includes(name));
  return {
    change: { path: escapeInvisible(path), hunks: computeHunks(before, after) },
    fields: formatInputFields(Object.fromEntries(otherFields)),
  };
}

/** Compares the raw text, so that changed line endings and tabs count, and escapes invisible characters. */
function computeHunks(before: string, after: string): Hunk[] {
  const { hunks } = structuredPatch("", "", before, after, undefined, undefined, { context: 3 });
  return hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart,
    newStart,
    lines: lines.flatMap((line) => {
      // The "\ No newline at end of file" marker.
      if (line.startsWith("\\")) return [];
      const text = escapeInvisible(line.slice(1)).replaceAll("\n", "\\x0a");
      return [`${line.charAt(0)}${text}`];
    }),
  }));
}
