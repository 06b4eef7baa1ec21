import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import ts from "typescript";
import { claudeBinary } from "../support/claude-binaries.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

/** The file with the types of the installed Agent SDK. */
export function sdkTypesFile(): string {
  const require = createRequire(new URL("../../packages/core/package.json", import.meta.url));
  return join(dirname(require.resolve("@anthropic-ai/claude-agent-sdk")), "sdk.d.ts");
}

/** The keys of an exported object type or interface. */
export function listTypeKeys(text: string, typeName: string): string[] {
  const file = ts.createSourceFile("sdk.d.ts", text, ts.ScriptTarget.Latest);
  const members = file.statements.flatMap((statement) => {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === typeName)
      return [...statement.members];
    const isType = ts.isTypeAliasDeclaration(statement) && statement.name.text === typeName;
    return isType && ts.isTypeLiteralNode(statement.type) ? [...statement.type.members] : [];
  });
  return members.flatMap(({ name }) =>
    name && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? [name.text] : [],
  );
}

/** The flags in the output of `claude --help`. */
export function listHelpFlags(help: string): string[] {
  const flags = help
    .split("\n")
    .filter((line) => /^ {2}-/.test(line))
    .flatMap((line) => [...line.matchAll(/(?:^|[\s,])--([A-Za-z][A-Za-z-]*)/g)])
    .map(([, name = ""]) => name);
  return [...new Set(flags)];
}

export function readClaudeHelp(): string {
  const home = tempFolderWith({});
  const env = { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home };
  return execFileSync(claudeBinary("325"), ["--help"], { env, encoding: "utf8" });
}

/** Options that a table does not contain, and entries of the table that do not exist. */
export function compareWithTable(options: readonly string[], table: object) {
  return {
    unmapped: options.filter((name) => !Object.hasOwn(table, name)),
    outdated: Object.keys(table).filter((name) => !options.includes(name)),
  };
}
