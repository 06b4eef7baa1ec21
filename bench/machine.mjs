import { execFileSync } from "node:child_process";
import { arch, availableParallelism, loadavg, platform, totalmem } from "node:os";
import { bundledClaude } from "./stage.mjs";

/** The class of machine that figures belong to; nothing that tells one of its kind from another. */
export function machine() {
  const claude = execFileSync(bundledClaude(), ["--version"], { encoding: "utf8" });
  return {
    system: `${platform()} ${arch()}`,
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    claude: claude.trim().split(" ")[0],
  };
}

/** When and of which code something was measured, and how busy the machine was with other things. */
export function circumstances() {
  const args = ["describe", "--always", "--dirty", "--exclude=*"];
  const commit = execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}
