import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/core/light";
import type { ServiceManager } from "./contract.ts";
import { systemdEnvironment } from "./environment-file.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";
import { isUnitOf, systemdUnit } from "./systemd-unit.ts";

/** The systemd of this user, which needs no rights of root. */
export const systemd: ServiceManager = {
  suffix: ".service",
  folder: (env) =>
    join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config"), "systemd/user"),
  describe: systemdUnit,
  environment: systemdEnvironment,
  isOf: isUnitOf,
  check: async (env) => {
    const { code, stderr } = await systemctl(["show", "--property=Version"], env);
    if (code === 0) return;
    const why = code === undefined ? "there is no `systemctl`" : stderr.trim().split("\n")[0];
    throw new UserError("service_unavailable", `no systemd serves this user here: ${why}`);
  },
  enable: async (name, _file, env) => {
    await demand(["daemon-reload"], env);
    await demand(["enable", name], env);
    await demand(["restart", name], env);
  },
  disable: async (name, _file, env) => {
    await demand(["disable", "--now", name], env);
  },
  state: async (name, env) => {
    const properties = "--property=ActiveState,MainPID,UnitFileState";
    const { stdout } = await systemctl(["show", name, properties], env);
    const facts = new Map(stdout.split("\n").map((line) => splitOnce(line, "=")));
    const pid = Number(facts.get("MainPID") ?? 0);
    return {
      enabled: facts.get("UnitFileState") === "enabled",
      running: facts.get("ActiveState") === "active",
      pid: pid > 0 ? pid : null,
    };
  },
  advice: async (env) => {
    const { username } = userInfo();
    const { stdout } = await runProgram(
      "loginctl",
      ["show-user", username, "--property=Linger"],
      env,
    );
    if (stdout.trim() === "Linger=yes") return [];
    return [
      "It ends when you log out, and starts when you log in. To have it run without you: `loginctl enable-linger`",
    ];
  },
  logs: ({ name }) => `journalctl --user -u ${name} -f`,
};

function systemctl(args: string[], env: NodeJS.ProcessEnv): Promise<ProgramEnd> {
  return runProgram("systemctl", ["--user", ...args], env);
}

async function demand(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stderr } = await systemctl(args, env);
  if (code === 0) return;
  const message = `\`systemctl --user ${args.join(" ")}\` failed: ${stderr.trim()}`;
  const hint = "Look at `systemctl --user status` and `journalctl --user -xe`.";
  throw new UserError("service_unavailable", message, { hint });
}

function splitOnce(line: string, sign: string): [string, string] {
  const at = line.indexOf(sign);
  return [line.slice(0, at), line.slice(at + 1)];
}
