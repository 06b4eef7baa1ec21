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
  const program = buildProgram(wanted(argv), async (spec, given, options) => {
    exitCode = await runCommand(spec, given, options);
  });
  try {
    await program.parseAsync(argv);
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
  for (const { name, summary } of spec.arguments ?? []) command.argument(`[${name}]`, summary);
  for (const { flags, summary } of spec.options ?? []) command.option(flags, summary);
  command.option("--json", "print JSON only");
  command.action(async (...given: unknown[]) => {
    const texts = given.slice(0, spec.arguments?.length ?? 0);
    await run(
      spec,
      texts.map((text) => (typeof text === "string" ? text : undefined)),
      command.opts(),
    );
  });
}

async function runCommand(
  spec: CommandSpec,
  given: (string | undefined)[],
  options: Options,
): Promise<number> {
  const terminal = openTerminal(options.json === true);
  try {
    const { run } = await spec.load();
    return await run({ arguments: given, options, cwd: process.cwd(), env: process.env, terminal });
  } catch (error) {
    const { reportFailure } = await import("./failure.ts");
    return reportFailure(error, terminal, process.cwd());
  }
}
