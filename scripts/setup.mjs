// Installs the dependencies and builds the packages of this checkout, if anything has changed.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { installCommand, runStep } from "./run-step.mjs";

const root = resolve(import.meta.dirname, "..");
const builtDashboard = "packages/server/dashboard";

runStep({
  stamp: "node_modules/.herdctl-installed",
  files: manifests(),
  title: "installing packages",
  commands: [installCommand],
});
runStep({
  stamp: "node_modules/.herdctl-built",
  files: sources(),
  title: "building",
  // With source maps, to attribute the coverage of built programs to the sources.
  commands: [["node", "scripts/build-for-coverage.mjs"]],
});

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
    const isGenerated = ["dist", "node_modules"].includes(entry.name) || path === builtDashboard;
    return isGenerated ? [] : filesBelow(path);
  });
}
