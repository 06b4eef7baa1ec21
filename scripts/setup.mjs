// Installs and builds what this checkout needs; does nothing when nothing has changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";

const root = resolve(import.meta.dirname, "..");
const oldestNode = [20, 19];
const builtDashboard = "packages/server/dashboard";

checkNode();
step("node_modules/.herdctl-installed", manifests(), "installing packages", [
  [...pnpm, "install", "--frozen-lockfile", "--reporter=append-only"],
]);
step("node_modules/.herdctl-built", sources(), "building", [["node", "scripts/build.mjs"]]);

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  fail(`herdctl needs Node ${oldestNode.join(".")} or newer; this is ${process.version}.`);
}

function step(stampFile, files, title, commands) {
  const stamp = join(root, stampFile);
  const content = hash(files);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === content) return;
  process.stderr.write(`herdctl: ${title} …\n`);
  for (const [program, ...args] of commands) {
    const done = spawnSync(program, args, {
      cwd: root,
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

function manifests() {
  const packages = readdirSync(join(root, "packages")).map(
    (name) => `packages/${name}/package.json`,
  );
  return ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...packages];
}

function sources() {
  const folders = ["examples", "packages", "plugin"].flatMap((folder) => filesBelow(folder));
  return [...manifests(), "scripts/build.mjs", ...folders];
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    const isMade = ["dist", "node_modules"].includes(entry.name) || path === builtDashboard;
    return isMade ? [] : filesBelow(path);
  });
}

function hash(files) {
  const sum = createHash("sha256");
  for (const file of files.sort()) {
    const path = join(root, file);
    if (!existsSync(path) || !statSync(path).isFile()) continue;
    sum.update(file).update("\0").update(readFileSync(path)).update("\0");
  }
  return sum.digest("hex");
}

function fail(message) {
  process.stderr.write(`herdctl: ${message}\n`);
  process.exit(2);
}
