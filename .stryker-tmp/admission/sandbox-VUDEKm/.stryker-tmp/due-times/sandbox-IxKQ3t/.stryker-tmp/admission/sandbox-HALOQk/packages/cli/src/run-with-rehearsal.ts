import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import type { Rehearsal } from "@herdctl/rehearsal";

/** Runs a command in which every `claude` uses the scripted model. Returns its exit code. */
export async function runWithRehearsal(
  [program = "", ...args]: string[],
  rehearsal: Pick<Rehearsal, "env">,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const claudeHome = mkdtempSync(join(tmpdir(), "herdctl-rehearsal-"));
  const forwardSignal = (signal: NodeJS.Signals) => void child?.kill(signal);
  let child: ChildProcess | undefined;
  try {
    for (const signal of forwardedSignals) process.on(signal, forwardSignal);
    child = spawn(program, args, {
      env: createRehearsalEnv(env, rehearsal.env(), claudeHome),
      stdio: "inherit",
    });
    return await waitForExitCode(child, program);
  } finally {
    for (const signal of forwardedSignals) process.off(signal, forwardSignal);
    rmSync(claudeHome, { recursive: true, force: true, maxRetries: 5 });
  }
}

const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Removes the user's own sign-in, which would be used instead of the model, and keeps scripted
 * sessions out of the user's real ones. Sets a key and a token for agents with either credential.
 */
function createRehearsalEnv(
  parentEnv: NodeJS.ProcessEnv,
  rehearsal: Record<string, string>,
  claudeHome: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(parentEnv).filter(([name]) => !/^(ANTHROPIC_|CLAUDE)/.test(name));
  return {
    ...Object.fromEntries(kept),
    ...rehearsal,
    CLAUDE_CODE_OAUTH_TOKEN: "rehearsal-token",
    CLAUDE_CONFIG_DIR: claudeHome,
  };
}

function waitForExitCode(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", () =>
      reject(
        new UserError("usage", `\`${program}\` cannot be run`, {
          hint: "Write a program on the PATH after `--`, followed by its arguments.",
        }),
      ),
    );
    child.once("close", (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
    );
  });
}
