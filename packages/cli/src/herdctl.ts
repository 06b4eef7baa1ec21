#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import type { CommandSpec, ParsedOptions } from "./command.ts";
import { commandAliases, commandGroups, commands, helpGroups } from "./commands.ts";
import { hideSqliteWarning } from "./hide-sqlite-warning.ts";
import { openTerminal } from "./terminal.ts";

const usageExitCode = 2;
const helpCommand = ["help [command]", "Show help for a command"] as const;

hideSqliteWarning();

const aliasText = Object.entries(commandAliases)
  .map(([alias, words]) => `${alias} (${words.join(" ")})`)
  .join(", ");

if (process.argv[2] === "__complete") {
  const { printCompletions } = await import("./completion/print-completions.ts");
  await printCompletions(process.argv.slice(3));
} else {
  process.exitCode = await main(resolveAlias(process.argv));
}

function resolveAlias([node = "", script = "", word = "", ...rest]: string[]): string[] {
  const words = Object.hasOwn(commandAliases, word) ? commandAliases[word] : [word];
  return [node, script, ...(words ?? [word]).filter((one) => one !== ""), ...rest];
}

async function main(argv: string[]): Promise<number> {
  let exitCode = 0;
  const specs = selectSpecs(argv);
  const { ownArgs, passthroughArgs } = specs.some(takesPassthroughArgs)
    ? splitAtDashes(argv)
    : { ownArgs: argv, passthroughArgs: [] };
  const program = buildProgram(specs, async (spec, args, options) => {
    exitCode = await runCommand(spec, args, options, passthroughArgs);
  });
  try {
    await program.parseAsync(ownArgs);
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and the version are printed by now. Help without a command exits with 2.
    if (error.exitCode === 0 || error.code === "commander.help")
      return error.exitCode === 0 ? 0 : usageExitCode;
    const { reportFailure, toUsageError } = await import("./report-failure.ts");
    const terminal = openTerminal(ownArgs.includes("--json"));
    return reportFailure(toUsageError(error, ownArgs.slice(2)), terminal, process.cwd());
  }
}

/** Building all commands takes longer than most commands run, so only the named one is built. */
function selectSpecs([, , name]: string[]): readonly CommandSpec[] {
  const named = commands.filter((spec) => spec.name.split(" ")[0] === name);
  return named.length > 0 ? named : commands;
}

function takesPassthroughArgs(spec: CommandSpec): boolean {
  return spec.arguments?.at(-1)?.name.endsWith("...") ?? false;
}

function splitAtDashes(argv: string[]): { ownArgs: string[]; passthroughArgs: string[] } {
  const dashes = argv.indexOf("--");
  if (dashes < 0) return { ownArgs: argv, passthroughArgs: [] };
  return { ownArgs: argv.slice(0, dashes), passthroughArgs: argv.slice(dashes + 1) };
}

type RunSpec = (
  spec: CommandSpec,
  args: (string | undefined)[],
  options: ParsedOptions,
) => Promise<void>;

function buildProgram(specs: readonly CommandSpec[], run: RunSpec): Command {
  const program = new Command("herdctl")
    .description("Run fleets of Claude Code agents unattended")
    .version(packageJson.version, "-v, --version", "Show the version")
    .helpOption("-h, --help", "Show help")
    .helpCommand(...helpCommand)
    .usage("<command> [options]")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    // Errors of the command line are printed like all others, and in JSON with `--json`.
    .configureOutput({ outputError: () => undefined })
    .addHelpText(
      "after",
      `\nAliases: ${aliasText}\nRun \`herdctl COMMAND --help\` for arguments, options and examples.`,
    )
    // `sessions` is a command and a group: options after `resume` belong to `sessions resume`.
    .enablePositionalOptions()
    .exitOverride();
  for (const [heading, names] of Object.entries(helpGroups)) {
    program.commandsGroup(`${heading}:`);
    for (const name of names) addCommands(program, name, specs, run);
  }
  // Again, for its heading: groups such as `config` inherit the first one, which has none.
  program.commandsGroup(`${Object.keys(helpGroups)[0]}:`).helpCommand(...helpCommand);
  return program;
}

/** Adds a command, or a group, and the commands below it. */
function addCommands(
  program: Command,
  name: string,
  specs: readonly CommandSpec[],
  run: RunSpec,
): void {
  const summary = commandGroups[name];
  if (summary !== undefined) {
    program.command(name).description(summary).usage("<command> [options]");
  }
  const own = specs.filter((spec) => spec.name.split(" ")[0] === name);
  for (const spec of own) addCommand(program, spec, own.length > 1, run);
}

function addCommand(
  program: Command,
  spec: CommandSpec,
  hasSubcommands: boolean,
  run: RunSpec,
): void {
  const words = spec.name.split(" ");
  const subcommandName = words.pop() ?? "";
  const parent = words.reduce(
    (at, word) => at.commands.find((one) => one.name() === word) ?? at,
    program,
  );
  const command = parent.command(subcommandName).description(spec.summary);
  command.usage(usageText(spec, hasSubcommands && words.length === 0));
  // Optional for commander: each command reports a missing argument with a more useful hint.
  for (const { name, summary } of spec.arguments ?? []) command.argument(`[${name}]`, summary);
  for (const { flags, summary, repeatable } of spec.options ?? []) {
    if (repeatable) command.option(flags, summary, appendValue);
    else command.option(flags, summary);
  }
  command.option("--json", "Print JSON only");
  command.addHelpText("after", `\nExamples:\n${indentLines(spec.examples)}`);
  command.action(async (...args: unknown[]) => {
    const texts = args.slice(0, spec.arguments?.length ?? 0);
    if (texts.some((text) => Array.isArray(text) && text.length > 0)) {
      command.error("write the command to run after `--`");
    }
    await run(
      spec,
      texts.map((text) => (typeof text === "string" ? text : undefined)),
      command.opts(),
    );
  });
}

function usageText({ arguments: specs = [] }: CommandSpec, hasSubcommands: boolean): string {
  const terms = specs.map(({ name, optional }) => (optional ? `[${name}]` : `<${name}>`));
  return [...(hasSubcommands ? ["[command]"] : []), ...terms, "[options]"].join(" ");
}

function appendValue(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`;
}

function indentLines(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

async function runCommand(
  spec: CommandSpec,
  args: (string | undefined)[],
  options: ParsedOptions,
  passthroughArgs: string[],
): Promise<number> {
  const terminal = openTerminal(options.json === true);
  try {
    const { run } = await spec.load();
    const cwd = process.cwd();
    return await run({
      arguments: args,
      passthroughArgs,
      options,
      cwd,
      env: process.env,
      terminal,
    });
  } catch (error) {
    const { reportFailure } = await import("./report-failure.ts");
    return reportFailure(error, terminal, process.cwd());
  }
}
