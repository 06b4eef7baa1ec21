import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";

const root = resolve(import.meta.dirname, "..");

/** Installs exactly the packages of the lock file. */
export const installCommand = [...pnpm, "install", "--frozen-lockfile", "--reporter=append-only"];

/** Runs commands in a folder of the checkout, unless they already ran with the same `files`. */
export function runStep({ stamp: stampFile, files, title, commands, folder = "." }) {
  const stamp = join(root, stampFile);
  const content = hashFiles(files);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === content) return;
  process.stderr.write(`herdctl: ${title} …\n`);
  for (const [program, ...args] of commands) {
    const done = spawnSync(program, args, {
      cwd: join(root, folder),
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
    });
    if (done.status === 0) continue;
    process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
    fail(
      `\`${[program, ...args].join(" ")}\` failed (${done.error?.message ?? `exit ${done.status}`}).`,
    );
  }
  writeFileSync(stamp, content);
}

export function fail(message) {
  process.stderr.write(`herdctl: ${message}\n`);
  process.exit(2);
}

function hashFiles(files) {
  const sum = createHash("sha256");
  for (const file of files.sort()) {
    const path = join(root, file);
    if (!existsSync(path) || !statSync(path).isFile()) continue;
    sum.update(file).update("\0").update(readFileSync(path)).update("\0");
  }
  return sum.digest("hex");
}
