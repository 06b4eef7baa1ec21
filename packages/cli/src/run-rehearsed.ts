import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/core/light";
import type { Rehearsal } from "@herdctl/rehearsal";

/** Runs a command whose every `claude` talks to the rehearsal, and gives its exit code. */
export async function runRehearsed(
  [program = "", ...args]: string[],
  rehearsal: Pick<Rehearsal, "env">,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const claudeHome = mkdtempSync(join(tmpdir(), "herdctl-rehearsal-"));
  const passOn = (signal: NodeJS.Signals) => void child?.kill(signal);
  let child: ChildProcess | undefined;
  try {
    for (const signal of signals) process.on(signal, passOn);
    child = spawn(program, args, {
      env: rehearsedEnv(env, rehearsal.env(), claudeHome),
      stdio: "inherit",
    });
    return await exitCodeOf(child, program);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
    rmSync(claudeHome, { recursive: true, force: true, maxRetries: 5 });
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Nothing of the person's own sign-in: it would be used, and sessions made up by a script would
 * lie among real ones. There is a key and a token, so that agents of every kind find theirs.
 */
function rehearsedEnv(
  own: NodeJS.ProcessEnv,
  rehearsal: Record<string, string>,
  claudeHome: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(([name]) => !/^(ANTHROPIC_|CLAUDE)/.test(name));
  return {
    ...Object.fromEntries(kept),
    ...rehearsal,
    CLAUDE_CODE_OAUTH_TOKEN: "rehearsal",
    CLAUDE_CONFIG_DIR: claudeHome,
  };
}

function exitCodeOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", () =>
      reject(
        new UserError("usage", `\`${program}\` cannot be run`, {
          hint: "After `--` comes a program that is on the PATH, with its arguments.",
        }),
      ),
    );
    child.once("close", (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
    );
  });
}
