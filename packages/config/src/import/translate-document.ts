import { type Document, isMap, LineCounter, parseDocument } from "yaml";
import { translateAgent } from "./agent-rules.ts";
import { Block } from "./block.ts";
import { type ImportFinding, Translation } from "./findings.ts";
import { translateFleet } from "./fleet-rules.ts";
import { restoreUnchangedLines } from "./restore-lines.ts";
import type { WorkspaceDefaults } from "./workspace-rules.ts";

/** What a file contains. Agent files take the folder for clones from their fleet file. */
export type DocumentRole = { kind: "fleet" } | { kind: "agent"; workspace: WorkspaceDefaults };

export interface TranslatedDocument {
  findings: ImportFinding[];
  /** Of a fleet file: the folder for clones of its agents' repositories. */
  workspace: WorkspaceDefaults;
}

/**
 * Translates a document from the format of the other project called herdctl, in place. A document in
 * our format stays as it is, without a finding.
 */
export function translateDocument(
  file: string,
  document: Document,
  lines: LineCounter,
  role: DocumentRole,
  isImport: boolean,
): TranslatedDocument {
  const translation = new Translation(file, document, lines, isImport);
  const { contents } = document;
  if (!isMap(contents)) return { findings: [], workspace: {} };
  const block = new Block(contents, [], translation);
  const workspace = role.kind === "fleet" ? translateFleet(block) : {};
  if (role.kind === "agent") translateAgent(block, role.workspace);
  return { findings: translation.findings, workspace };
}

/** The same for the text of a file. Comments, the order of keys and unchanged lines stay. */
export function translateText(
  file: string,
  text: string,
  role: DocumentRole,
): TranslatedDocument & { text: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const translated = translateDocument(file, document, lines, role, true);
  if (translated.findings.length === 0) return { ...translated, text };
  return { ...translated, text: renderDocument(document, text) };
}

/** The text of an edited document, with all unchanged lines as in the original text. */
export function renderDocument(document: Document, original: string): string {
  const firstItem = /^( *)- /m.exec(original)?.[1] ?? "  ";
  const rendered = document.toString({
    lineWidth: 0,
    indentSeq: firstItem.length > 0,
    flowCollectionPadding: !/\{\S/.test(original) || /\{ /.test(original),
  });
  const restored = restoreUnchangedLines(original, rendered);
  return hasSameValue(restored, rendered) ? restored : rendered;
}

function hasSameValue(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => {
    const document = parseDocument(text);
    return document.errors.length > 0 ? undefined : JSON.stringify(document.toJS());
  });
  return first !== undefined && first === second;
}
