import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { type Finding, failed, ok } from "./check.ts";

/** The programs that Claude Code's sandbox needs on Linux, and the Debian package of each. */
const requiredPrograms = { bwrap: "bubblewrap", socat: "socat" };

export function checkSandbox(agent: ResolvedAgent, env: Environment): Finding[] {
  const missing = Object.entries(requiredPrograms)
    .filter(([program]) => !isOnPath(program, env))
    .map(([, name]) => name);
  return evaluateSandbox(agent, process.platform, missing);
}

export function evaluateSandbox(
  { name: agent, file: place, sandbox }: Pick<ResolvedAgent, "name" | "file" | "sandbox">,
  platform: NodeJS.Platform,
  missing: readonly string[],
): Finding[] {
  if (!sandbox?.enabled) return [];
  if (platform !== "linux" || missing.length === 0)
    return [{ ...ok("sandbox", "Commands run in Claude Code's sandbox."), agent, place }];
  const consequence = sandbox.fail_if_unavailable
    ? "its runs will not start"
    : "its commands will run without a sandbox";
  const hint = `Install it: \`sudo apt-get install ${missing.join(" ")}\`.`;
  const message = `${missing.join(" and ")} missing: ${consequence}.`;
  return [{ ...failed("sandbox", message, hint), agent, place }];
}

function isOnPath(program: string, { PATH = "" }: Environment): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}
