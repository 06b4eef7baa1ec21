import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

const cli = resolve(import.meta.dirname, "../packages/cli/src");

/** Imports the command table from the CLI's sources, because the bundle does not export it. */
export async function commandTable() {
  const temp = mkdtempSync(join(tmpdir(), "herdctl-table-"));
  try {
    const parts = readdirSync(join(cli, "command-table")).map((name) => `command-table/${name}`);
    for (const file of ["commands.ts", ...parts]) transpile(file, temp);
    return await import(pathToFileURL(join(temp, "commands.mjs")).href);
  } finally {
    rmSync(temp, { recursive: true });
  }
}

function transpile(file, folder) {
  const { outputText } = ts.transpileModule(readFileSync(join(cli, file), "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const to = join(folder, file.replace(/\.ts$/, ".mjs"));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, outputText.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.mjs"'));
}
