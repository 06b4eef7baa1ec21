// Installs and builds what this checkout needs; does nothing when nothing has changed.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fail, install, step } from "./step.mjs";

const root = resolve(import.meta.dirname, "..");
const oldestNode = [20, 19];
const builtDashboard = "packages/server/dashboard";

checkNode();
step({
  stamp: "node_modules/.herdctl-installed",
  files: manifests(),
  title: "installing packages",
  commands: [install],
});
step({
  stamp: "node_modules/.herdctl-built",
  files: sources(),
  title: "building",
  commands: [["node", "scripts/build.mjs"]],
});

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  fail(`herdctl needs Node ${oldestNode.join(".")} or newer; this is ${process.version}.`);
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
