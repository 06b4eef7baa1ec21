import { isAbsolute, relative } from "node:path";
import { exitCodes, type Problem, ProblemsError, UserError } from "@herdctl/protocol";
import type { Terminal } from "./terminal.ts";

/** Prints an error: a `UserError` with its hint, anything else as a bug. Returns the exit code. */
export function reportFailure(error: unknown, terminal: Terminal, cwd: string): number {
  if (error instanceof ProblemsError) return reportProblems(error, terminal, cwd);
  if (error instanceof UserError) {
    if (terminal.isJson) {
      terminal.printJson({
        errors: [{ code: error.code, message: error.message, hint: error.hint }],
      });
    } else {
      const { red, dim } = terminal.colors;
      terminal.printNote(`${red("✗")} ${error.message}\n  ${dim(error.hint)}`);
    }
    return error.exitCode;
  }
  const stackText = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (terminal.isJson)
    terminal.printJson({ errors: [{ code: "bug", message: String(error), hint: bugHint }] });
  terminal.printNote(`herdctl has a bug: ${stackText}\n${bugHint}`);
  return exitCodes.bug;
}

/** An error of the command line, which commander words like `error: unknown option '--x'`. */
export function toUsageError({ message }: Error, args: readonly string[]): UserError {
  const [first = "", suggestion] = message.replace(/^error: /, "").split("\n");
  const command = args.filter((arg) => !arg.startsWith("-"))[0] ?? "";
  const help = first.startsWith("unknown command") ? "herdctl --help" : `herdctl ${command} --help`;
  const meant = /Did you mean (one of )?(.*)\?/.exec(suggestion ?? "")?.[2];
  return new UserError("usage", first, {
    hint: `${meant ? `Did you mean ${meant}? ` : ""}Run \`${help}\` to show what there is.`,
  });
}

const bugHint = "Please report this bug with the lines above.";

function reportProblems(error: ProblemsError, terminal: Terminal, cwd: string): number {
  if (terminal.isJson) {
    terminal.printJson({ errors: error.problems });
    return error.exitCode;
  }
  const { red, bold, dim, cyan } = terminal.colors;
  for (const problem of error.problems) {
    const subject = problem.path === "" ? "" : `${bold(problem.path)}: `;
    terminal.printNote(
      `${red("✗")} ${cyan(formatPosition(problem, cwd))}  ${subject}${problem.message}`,
    );
    terminal.printNote(`  ${dim(problem.hint)}`);
  }
  const count = error.problems.length;
  terminal.printNote(`\n${count} problem${count === 1 ? "" : "s"}. ${error.hint}`);
  return error.exitCode;
}

function formatPosition(problem: Problem, cwd: string): string {
  const short = relative(cwd, problem.file);
  const file = short.startsWith("..") || isAbsolute(short) ? problem.file : short;
  return `${file}:${problem.line}:${problem.column}`;
}
