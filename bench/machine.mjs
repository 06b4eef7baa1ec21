import { execFileSync } from "node:child_process";
import { arch, availableParallelism, loadavg, platform, totalmem } from "node:os";
import { resolve } from "node:path";
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
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git("rev-parse", "--short=7", "HEAD")}${isChanged() ? "-dirty" : ""}`,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

/** What other runs wrote under docs/proof is no change of what is measured. */
function isChanged() {
  return git("status", "--porcelain", "packages", "bench") !== "";
}

function git(...args) {
  const cwd = resolve(import.meta.dirname, "..");
  return execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
}
