import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import type { ServiceManager } from "./contract.ts";
import { renderSystemdEnvironment } from "./environment-file.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";
import { isFleetUnit, renderSystemdUnit } from "./systemd-unit.ts";

/** The user's own systemd instance, which needs no root privileges. */
export const systemd: ServiceManager = {
  fileSuffix: ".service",
  definitionDir: (env) =>
    join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config"), "systemd/user"),
  renderDefinition: renderSystemdUnit,
  renderEnvironment: renderSystemdEnvironment,
  belongsToFleet: isFleetUnit,
  assertAvailable: async (env) => {
    const { code, stderr } = await runSystemctl(["show", "--property=Version"], env);
    if (code === 0) return;
    const reason = code === undefined ? "`systemctl` was not found" : stderr.trim().split("\n")[0];
    throw new UserError("service_unavailable", `systemd is not available to this user: ${reason}`);
  },
  enable: async (name, _file, env) => {
    await runSystemctlOrThrow(["daemon-reload"], env);
    await runSystemctlOrThrow(["enable", name], env);
    await runSystemctlOrThrow(["restart", name], env);
  },
  disable: async (name, _file, env) => {
    await runSystemctlOrThrow(["disable", "--now", name], env);
  },
  readState: async (name, env) => {
    const properties = "--property=ActiveState,MainPID,UnitFileState";
    const { stdout } = await runSystemctl(["show", name, properties], env);
    const facts = new Map(stdout.split("\n").map((line) => splitOnce(line, "=")));
    const pid = Number(facts.get("MainPID") ?? 0);
    return {
      enabled: facts.get("UnitFileState") === "enabled",
      running: facts.get("ActiveState") === "active",
      pid: pid > 0 ? pid : null,
    };
  },
  listAdvice: async (env) => {
    const { username } = userInfo();
    const { stdout } = await runProgram(
      "loginctl",
      ["show-user", username, "--property=Linger"],
      env,
    );
    if (stdout.trim() === "Linger=yes") return [];
    return [
      "The service stops when you log out. To keep it running, run `loginctl enable-linger`.",
    ];
  },
  logsCommand: ({ name }) => `journalctl --user -u ${name} -f`,
};

function runSystemctl(args: string[], env: NodeJS.ProcessEnv): Promise<ProgramResult> {
  return runProgram("systemctl", ["--user", ...args], env);
}

async function runSystemctlOrThrow(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stderr } = await runSystemctl(args, env);
  if (code === 0) return;
  const message = `\`systemctl --user ${args.join(" ")}\` failed: ${stderr.trim()}`;
  const hint = "Check `systemctl --user status` and `journalctl --user -xe`.";
  throw new UserError("service_unavailable", message, { hint });
}

function splitOnce(line: string, sign: string): [string, string] {
  const at = line.indexOf(sign);
  return [line.slice(0, at), line.slice(at + 1)];
}
