import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readDocument, UserError } from "@herdctl/core/document";
import { type CheckedScript, type Script, scriptSchema } from "./schema.ts";

const moduleEndings = new Set([".ts", ".mts", ".js", ".mjs"]);

/** A script from a YAML file, or from a module that exports it as `script`. */
export async function loadScript(file: string): Promise<CheckedScript> {
  if (!moduleEndings.has(extname(file))) return readDocument(scriptSchema, { file });
  return checkScript(await importScript(file), file);
}

/** A script that came as an object gets the same check, with its own text as the document. */
export function checkScript(script: unknown, file = "script"): CheckedScript {
  return readDocument(scriptSchema, { file, text: JSON.stringify(script, undefined, 2) });
}

async function importScript(file: string): Promise<unknown> {
  const loaded = await import(pathToFileURL(resolve(file)).href).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError("file_unreadable", `${file} cannot be loaded: ${reason}`, {
      hint: "Check that the file runs by itself; TypeScript needs a Node that strips types (22.18 or newer).",
      cause,
    });
  });
  const script: Script | undefined = loaded.script;
  if (script !== undefined) return script;
  throw new UserError("document_invalid", `${file} has no export named \`script\``, {
    hint: "Write `export const script = { rules: [ … ] }`.",
  });
}
