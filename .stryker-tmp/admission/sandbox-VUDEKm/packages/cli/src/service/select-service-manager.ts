import { UserError } from "@herdctl/protocol";
import type { ServiceManager } from "./contract.ts";
import { launchd } from "./launchd.ts";
import { systemd } from "./systemd.ts";

const managers = { systemd, launchd };

export function selectServiceManager(platform: string | undefined): ServiceManager {
  const name = platform ?? (process.platform === "darwin" ? "launchd" : "systemd");
  if (name === "systemd" || name === "launchd") return managers[name];
  throw new UserError("usage", `unknown service manager "${name}"`, {
    hint: "Use `--platform systemd` or `--platform launchd`.",
  });
}
