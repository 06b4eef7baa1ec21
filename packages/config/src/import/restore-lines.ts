import { diffArrays } from "diff";

/**
 * The rendered text of a document, in which every line that the translation did not change is written
 * as in the original: rendering normalizes spaces, such as those before a comment.
 */
export function restoreUnchangedLines(original: string, rendered: string): string {
  const before = original.split("\n");
  const after = rendered.split("\n");
  const restored: string[] = [];
  let beforeIndex = 0;
  let afterIndex = 0;
  for (const change of diffArrays(before.map(normalize), after.map(normalize))) {
    const count = change.value.length;
    if (change.removed) beforeIndex += count;
    else if (change.added) {
      restored.push(...after.slice(afterIndex, afterIndex + count).map(removeListPadding));
      afterIndex += count;
    } else {
      restored.push(...before.slice(beforeIndex, beforeIndex + count));
      beforeIndex += count;
      afterIndex += count;
    }
  }
  return restored.join("\n");
}

/** Indentation has a meaning; the number of further spaces has none outside of texts. */
function normalize(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const rest = line.slice(indent.length).trimEnd();
  return indent + rest.replace(/\s+/g, " ").replace(/([[{]) | (?=[\]}])/g, "$1");
}

/** The renderer pads lists like blocks: `[ Read ]`. */
function removeListPadding(line: string): string {
  return line.replace(/\[ (?=\S)/g, "[").replace(/(?<=\S) \](?=[,\s}\]]|$)/g, "]");
}
