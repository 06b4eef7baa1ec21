import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readDocument } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { type CheckedScript, type Script, scriptSchema } from "./script-schema.ts";

const moduleExtensions = new Set([".ts", ".mts", ".js", ".mjs"]);

/** Loads a script from a YAML file, or from a module that exports it as `script`. */
export async function loadScript(file: string): Promise<CheckedScript> {
  if (!moduleExtensions.has(extname(file))) return readDocument(scriptSchema, { file });
  return checkScript(await importScript(file), file);
}

/** Validates a script object like a file, with its JSON as the document. */
export function checkScript(script: unknown, file = "script"): CheckedScript {
  return readDocument(scriptSchema, { file, text: JSON.stringify(script, undefined, 2) });
}

async function importScript(file: string): Promise<unknown> {
  const loaded = await import(pathToFileURL(resolve(file)).href).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError("file_unreadable", `cannot load ${file}: ${reason}`, {
      hint: "Check that the file runs on its own. TypeScript files need Node.js 22.18 or newer.",
      cause,
    });
  });
  const script: Script | undefined = loaded.script;
  if (script !== undefined) return script;
  throw new UserError("document_invalid", `${file} has no export named \`script\``, {
    hint: "Write `export const script = { rules: [ … ] }`.",
  });
}
