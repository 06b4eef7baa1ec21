import { parseArgs } from "node:util";
import type { CommandSpec } from "../../packages/cli/src/command.ts";
import { commands } from "../../packages/cli/src/commands.ts";

/** The problem of a command line, or undefined if the command table accepts it. */
export function problemOfCommandLine(line: string): string | undefined {
  for (const typed of typedCommands(line)) {
    const problem = problemOfCommand(typed);
    if (problem !== undefined) return `${typed.join(" ")}: ${problem}`;
  }
  return undefined;
}

function typedCommands(line: string): string[][] {
  const inner = [...line.matchAll(/\$\(([^()]*)\)/g)].map(([, one = ""]) => one);
  // Quoted values and placeholders like <id> count as any value.
  const outer = line.replaceAll(/"[^"]*"|'[^']*'|<\w[^<>]*>/g, "word").replace(/(^|\s)#.*$/, "");
  return [outer, ...inner]
    .flatMap((text) => text.split(/[|&;]+/))
    .map((text) => text.replace(/[<>].*$/, "").trim())
    .map((text) => text.replace(/^((\w+=\S*|npx|exec)\s+)+/, "").split(/\s+/))
    .filter(([program = ""]) => /^(bin\/)?herdctl$/.test(program))
    .map(([, ...words]) => words);
}

function problemOfCommand(words: string[]): string | undefined {
  if (words.length === 0 || words[0]?.startsWith("-")) return undefined;
  const named = (spec: CommandSpec) => spec.name.split(" ").every((word, at) => words[at] === word);
  const [spec] = commands.filter(named).sort((a, b) => b.name.length - a.name.length);
  if (!spec) return "there is no such command";
  try {
    const { positionals } = parseArgs({
      args: words.slice(spec.name.split(" ").length),
      options: optionsOf(spec),
      allowPositionals: true,
    });
    const takes = spec.arguments ?? [];
    if (takes.some(({ name }) => name.endsWith("..."))) return undefined;
    return positionals.length > takes.length ? `takes ${takes.length} arguments` : undefined;
  } catch (error) {
    return String(error);
  }
}

function optionsOf(spec: CommandSpec): NonNullable<Parameters<typeof parseArgs>[0]>["options"] {
  const flags = [...(spec.options ?? []), { flags: "--json" }, { flags: "-h, --help" }];
  return Object.fromEntries(
    flags.map(({ flags: one }) => {
      const [, short, long = "", value] = /^(?:-(\w), )?--([\w-]+)( [<[].*)?$/.exec(one) ?? [];
      const type = value === undefined ? ("boolean" as const) : ("string" as const);
      return [long, short === undefined ? { type } : { type, short }];
    }),
  );
}
