import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import type { ServiceManager } from "./contract.ts";
import { renderNodeEnvironment } from "./environment-file.ts";
import { isFleetPlist, renderLaunchdPlist } from "./launchd-plist.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/** launchd on macOS, in the domain of the logged-in user. */
export const launchd: ServiceManager = {
  fileSuffix: ".plist",
  definitionDir: (env) => join(env.HOME ?? homedir(), "Library/LaunchAgents"),
  renderDefinition: renderLaunchdPlist,
  renderEnvironment: renderNodeEnvironment,
  belongsToFleet: isFleetPlist,
  assertAvailable: async (env) => {
    const { code, stderr } = await runLaunchctl(["print", userDomain()], env);
    if (code === 0) return;
    const reason = code === undefined ? "`launchctl` was not found" : stderr.trim().split("\n")[0];
    throw new UserError("service_unavailable", `launchd is not available to this user: ${reason}`);
  },
  enable: async (name, file, env) => {
    // A loaded service keeps its old definition until it is unloaded.
    await runLaunchctl(["bootout", `${userDomain()}/${name}`], env);
    await runLaunchctlOrThrow(["bootstrap", userDomain(), file], env);
    await runLaunchctlOrThrow(["kickstart", `${userDomain()}/${name}`], env);
  },
  disable: async (name, _file, env) => {
    await runLaunchctl(["bootout", `${userDomain()}/${name}`], env);
  },
  readState: async (name, env) => {
    const { code, stdout } = await runLaunchctl(["print", `${userDomain()}/${name}`], env);
    const pid = Number(/^\s*pid = (\d+)$/m.exec(stdout)?.[1] ?? 0);
    return { enabled: code === 0, running: pid > 0, pid: pid > 0 ? pid : null };
  },
  listAdvice: async () => ["The service runs only while you are logged in."],
  logsCommand: ({ logDir }) => `tail -f ${join(logDir, "service.log")}`,
};

function userDomain(): string {
  return `gui/${process.getuid?.() ?? 0}`;
}

function runLaunchctl(args: string[], env: NodeJS.ProcessEnv): Promise<ProgramResult> {
  return runProgram("launchctl", args, env);
}

async function runLaunchctlOrThrow(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stderr } = await runLaunchctl(args, env);
  if (code === 0) return;
  const message = `\`launchctl ${args.join(" ")}\` failed: ${stderr.trim()}`;
  throw new UserError("service_unavailable", message);
}
