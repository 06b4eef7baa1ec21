import { formatPath, type SourcePosition } from "@herdctl/protocol";
import { type Document, isNode, type LineCounter } from "yaml";

/**
 * - `renamed`: the same setting under another name or in another form.
 * - `moved`: the setting is in another file or block now.
 * - `ignored`: there is no counterpart, and nothing depends on it.
 * - `decision`: a person must choose; the result is the safe choice.
 */
export type FindingKind = "renamed" | "moved" | "ignored" | "decision";

/** The translation of one setting. */
export interface ImportFinding extends SourcePosition {
  kind: FindingKind;
  path: string;
  message: string;
}

export type NodePath = readonly (string | number)[];

/** The translation of one document: what is edited, and what was found. */
export class Translation {
  readonly findings: ImportFinding[] = [];

  /**
   * `isImport`: the file is in the other format, so what is valid in both formats has the meaning of
   * the other one. Otherwise only what is not valid here is translated.
   */
  constructor(
    readonly file: string,
    readonly document: Document,
    private readonly lines: LineCounter,
    readonly isImport: boolean,
  ) {}

  report(kind: FindingKind, node: unknown, path: NodePath, message: string): void {
    this.findings.push({ kind, ...this.positionOf(node), path: formatPath(path), message });
  }

  positionOf(node: unknown): SourcePosition {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    const { line, col } = offset === undefined ? { line: 1, col: 1 } : this.lines.linePos(offset);
    return { file: this.file, line, column: col };
  }
}
