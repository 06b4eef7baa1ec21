import { execFileSync } from "node:child_process";
import { arch, availableParallelism, loadavg, platform, totalmem } from "node:os";
import { bundledClaude } from "./bench-fleet.mjs";

/** The kind of machine; nothing that identifies this one. */
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

/** Date, commit, and the load of the machine before the measurements add to it. */
export function circumstances() {
  const isDirty = git("status", "--porcelain", ":/packages", ":/bench") !== "";
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git("rev-parse", "--short=7", "HEAD")}${isDirty ? "-dirty" : ""}`,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

function git(...args) {
  return execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
}
