#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import type { CommandSpec, Options } from "./command.ts";
import { commands, groups } from "./commands.ts";
import { openTerminal } from "./terminal.ts";

const badInput = 2;

if (process.argv[2] === "__complete") {
  const { answerShell } = await import("./completion/answer.ts");
  await answerShell(process.argv.slice(3));
} else {
  process.exitCode = await main(process.argv);
}

async function main(argv: string[]): Promise<number> {
  let exitCode = 0;
  const specs = wanted(argv);
  const { own, rest } = specs.some(takesRest) ? cutAtDashes(argv) : { own: argv, rest: [] };
  const program = buildProgram(specs, async (spec, given, options) => {
    exitCode = await runCommand(spec, given, options, rest);
  });
  try {
    await program.parseAsync(own);
    return exitCode;
  } catch (error) {
    // Commander has printed its own message; help and version are no mistake.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : badInput;
    throw error;
  }
}

/** Only the command that is named, where one is: all of them take longer than most take to run. */
function wanted([, , name]: string[]): readonly CommandSpec[] {
  const named = commands.filter((spec) => spec.name.split(" ")[0] === name);
  return named.length > 0 ? named : commands;
}

function takesRest(spec: CommandSpec): boolean {
  return spec.arguments?.at(-1)?.name.endsWith("...") ?? false;
}

function cutAtDashes(argv: string[]): { own: string[]; rest: string[] } {
  const dashes = argv.indexOf("--");
  if (dashes < 0) return { own: argv, rest: [] };
  return { own: argv.slice(0, dashes), rest: argv.slice(dashes + 1) };
}

type Runner = (spec: CommandSpec, given: (string | undefined)[], options: Options) => Promise<void>;

function buildProgram(specs: readonly CommandSpec[], run: Runner): Command {
  const program = new Command("herdctl")
    .description("Run fleets of Claude Code agents unattended")
    .version(packageJson.version, "-v, --version")
    .showHelpAfterError("(run with --help to see what it takes)")
    // `sessions` has options and is a group too: what follows `resume` belongs to `resume`.
    .enablePositionalOptions()
    .exitOverride();
  for (const [name, summary] of Object.entries(groups)) {
    program.command(name).description(summary);
  }
  for (const spec of specs) addCommand(program, spec, run);
  return program;
}

function addCommand(program: Command, spec: CommandSpec, run: Runner): void {
  const words = spec.name.split(" ");
  const own = words.pop() ?? "";
  const parent = words.reduce(
    (at, word) => at.commands.find((one) => one.name() === word) ?? at,
    program,
  );
  const command = parent.command(own).description(spec.summary);
  // All may be missing to commander: a command asks in its own words for what it needs.
  for (const { name, summary } of spec.arguments ?? []) command.argument(`[${name}]`, summary);
  for (const { flags, summary, repeatable } of spec.options ?? []) {
    if (repeatable) command.option(flags, summary, joined);
    else command.option(flags, summary);
  }
  command.option("--json", "print JSON only");
  if (spec.examples) command.addHelpText("after", `\nFor example:\n${indented(spec.examples)}`);
  command.action(async (...given: unknown[]) => {
    const texts = given.slice(0, spec.arguments?.length ?? 0);
    if (texts.some((text) => Array.isArray(text) && text.length > 0)) {
      command.error("error: what is to be run comes after `--`");
    }
    await run(
      spec,
      texts.map((text) => (typeof text === "string" ? text : undefined)),
      command.opts(),
    );
  });
}

function joined(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

async function runCommand(
  spec: CommandSpec,
  given: (string | undefined)[],
  options: Options,
  rest: string[],
): Promise<number> {
  const terminal = openTerminal(options.json === true);
  try {
    const { run } = await spec.load();
    const cwd = process.cwd();
    return await run({ arguments: given, rest, options, cwd, env: process.env, terminal });
  } catch (error) {
    const { reportFailure } = await import("./failure.ts");
    return reportFailure(error, terminal, process.cwd());
  }
}
