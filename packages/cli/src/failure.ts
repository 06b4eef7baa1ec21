import { isAbsolute, relative } from "node:path";
import { exitCodes, type Problem, ProblemsError, UserError } from "@herdctl/core/light";
import type { Terminal } from "./terminal.ts";

/** The one place where errors meet people: what they can fix, or a bug of ours. */
export function reportFailure(error: unknown, terminal: Terminal, cwd: string): number {
  if (error instanceof ProblemsError) return reportProblems(error, terminal, cwd);
  if (error instanceof UserError) {
    if (terminal.json) {
      terminal.printJson({
        errors: [{ code: error.code, message: error.message, hint: error.hint }],
      });
    } else {
      const { red, dim } = terminal.colors;
      terminal.note(`${red("✗")} ${error.message}\n  ${dim(error.hint)}`);
    }
    return error.exitCode;
  }
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (terminal.json)
    terminal.printJson({ errors: [{ code: "bug", message: String(error), hint: bugHint }] });
  terminal.note(`herdctl has a bug: ${story}\n${bugHint}`);
  return exitCodes.bug;
}

const bugHint = "Please report it with the lines above.";

function reportProblems(error: ProblemsError, terminal: Terminal, cwd: string): number {
  if (terminal.json) {
    terminal.printJson({ errors: error.problems });
    return error.exitCode;
  }
  const { red, bold, dim, cyan } = terminal.colors;
  for (const problem of error.problems) {
    const subject = problem.path === "" ? "" : `${bold(problem.path)}: `;
    terminal.note(`${red("✗")} ${cyan(place(problem, cwd))}  ${subject}${problem.message}`);
    terminal.note(`  ${dim(problem.hint)}`);
  }
  const count = error.problems.length;
  terminal.note(`\n${count} problem${count === 1 ? "" : "s"}. ${error.hint}`);
  return error.exitCode;
}

function place(problem: Problem, cwd: string): string {
  const short = relative(cwd, problem.file);
  const file = short.startsWith("..") || isAbsolute(short) ? problem.file : short;
  return `${file}:${problem.line}:${problem.column}`;
}
