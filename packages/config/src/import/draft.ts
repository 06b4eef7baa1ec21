import { relative } from "node:path";
import type { Problem, SourcePosition } from "@herdctl/protocol";
import { readText } from "../yaml/read-document.ts";
import type { ImportFinding } from "./findings.ts";

/** The files of a fleet while they are translated. */
export class ImportDraft {
  /** The text of each file after the edits so far, by absolute path. */
  readonly texts = new Map<string, string>();
  readonly findings: ImportFinding[] = [];
  /** Folders to create. */
  readonly folders: string[] = [];

  constructor(readonly fleetFile: string) {}

  text(file: string): string {
    return this.texts.get(file) ?? readText(file);
  }
}

export function placeOf({ file, line, column }: Problem): SourcePosition {
  return { file, line, column };
}

/** The path of a file as another file in `folder` would write it. */
export function writtenPath(folder: string, target: string): string {
  const path = relative(folder, target);
  return path.startsWith("..") ? path : `./${path}`;
}
