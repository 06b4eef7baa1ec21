import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/core/light";
import type { ServiceManager } from "./contract.ts";
import { nodeEnvironment } from "./environment-file.ts";
import { isPlistOf, launchdPlist } from "./launchd-plist.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";

/** The launchd of a Mac, for a user who is logged in. */
export const launchd: ServiceManager = {
  suffix: ".plist",
  folder: (env) => join(env.HOME ?? homedir(), "Library/LaunchAgents"),
  describe: launchdPlist,
  environment: nodeEnvironment,
  isOf: isPlistOf,
  check: async (env) => {
    const { code, stderr } = await launchctl(["print", domain()], env);
    if (code === 0) return;
    const why = code === undefined ? "there is no `launchctl`" : stderr.trim().split("\n")[0];
    throw new UserError("service_unavailable", `no launchd serves this user here: ${why}`);
  },
  enable: async (name, file, env) => {
    // One that is loaded keeps its old description until it is taken out.
    await launchctl(["bootout", `${domain()}/${name}`], env);
    await demand(["bootstrap", domain(), file], env);
    await demand(["kickstart", `${domain()}/${name}`], env);
  },
  disable: async (name, _file, env) => {
    await launchctl(["bootout", `${domain()}/${name}`], env);
  },
  state: async (name, env) => {
    const { code, stdout } = await launchctl(["print", `${domain()}/${name}`], env);
    const pid = Number(/^\s*pid = (\d+)$/m.exec(stdout)?.[1] ?? 0);
    return { enabled: code === 0, running: pid > 0, pid: pid > 0 ? pid : null };
  },
  advice: async () => ["It runs while you are logged in."],
  logs: ({ logDir }) => `tail -f ${join(logDir, "service.log")}`,
};

function domain(): string {
  return `gui/${process.getuid?.() ?? 0}`;
}

function launchctl(args: string[], env: NodeJS.ProcessEnv): Promise<ProgramEnd> {
  return runProgram("launchctl", args, env);
}

async function demand(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stderr } = await launchctl(args, env);
  if (code === 0) return;
  const message = `\`launchctl ${args.join(" ")}\` failed: ${stderr.trim()}`;
  throw new UserError("service_unavailable", message);
}
