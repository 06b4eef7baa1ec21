import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunOrder } from "../run-order.ts";

const longest = 5_000;

/**
 * What a `claude` is told of the repository at its start: branch, commit, and what is changed. Not
 * for a container: git would run here what those in there have put into its configuration.
 */
export function stampGit({ place, cwd }: Pick<RunOrder, "place" | "cwd">): string {
  if (place === "docker" || !isInRepository(cwd)) return "";
  const quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  // A nested repository has configuration of its own, which may be somebody else's.
  const args = ["--no-optional-locks", ...quiet, "status", "--ignore-submodules=all"];
  try {
    return execFileSync("git", [...args, "--porcelain=v2", "--branch"], {
      cwd,
      encoding: "utf8",
      timeout: longest,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    // Nobody can say that it is as it was.
    return `unknown ${Math.random()}`;
  }
}

function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  const above = dirname(folder);
  return above !== folder && isInRepository(above);
}
