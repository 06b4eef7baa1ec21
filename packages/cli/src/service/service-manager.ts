import { UserError } from "@herdctl/core/light";
import type { ServiceManager } from "./contract.ts";
import { launchd } from "./launchd.ts";
import { systemd } from "./systemd.ts";

const managers = { systemd, launchd };

export function serviceManager(wanted: string | undefined): ServiceManager {
  const name = wanted ?? (process.platform === "darwin" ? "launchd" : "systemd");
  if (name === "systemd" || name === "launchd") return managers[name];
  throw new UserError("usage", `"${name}" keeps no services that herdctl knows`, {
    hint: "Write `--platform systemd` or `--platform launchd`.",
  });
}
