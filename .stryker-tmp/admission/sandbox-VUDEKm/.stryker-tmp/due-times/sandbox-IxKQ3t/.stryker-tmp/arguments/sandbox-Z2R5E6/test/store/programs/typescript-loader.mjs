import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

// `node --import` this to run the sources themselves: Node reads TypeScript from 22.18 on.
if (isMainThread) register(import.meta.url);

const cache = new URL("../../../node_modules/.cache/herdctl-test/", import.meta.url);

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const text = readFileSync(fileURLToPath(url), "utf8");
  return { format: "module", source: await compiled(text), shortCircuit: true };
}

/** Loading the compiler takes a second on a busy machine, so what it made is kept. */
async function compiled(text) {
  const file = new URL(`${createHash("sha256").update(text).digest("hex")}.mjs`, cache);
  try {
    return readFileSync(file, "utf8");
  } catch {
    const source = await compile(text);
    const draft = new URL(`${process.pid}-${Date.now()}.mjs`, cache);
    mkdirSync(cache, { recursive: true });
    writeFileSync(draft, source);
    renameSync(draft, file);
    return source;
  }
}

async function compile(text) {
  const { default: ts } = await import("typescript");
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(text, { compilerOptions }).outputText;
}
