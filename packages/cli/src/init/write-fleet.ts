import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { jsonSchema } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { FleetPlan } from "./fleet-plan.ts";
import { reviewerFleet, reviewerName, runtimeLine } from "./reviewer-fleet.ts";
import type { Surroundings } from "./surroundings.ts";

const fleetFile = "herdctl.yaml";

/** Writes the fleet, and returns the paths of all files that were written or changed. */
export function writeFleet(
  plan: FleetPlan,
  {
    cwd,
    examplesDir,
    surroundings,
  }: { cwd: string; examplesDir: string; surroundings: Surroundings },
): string[] {
  const files =
    plan.example === reviewerName
      ? new Map([[fleetFile, reviewerFleet(plan.name, plan.runtime, surroundings)]])
      : exampleTexts(plan, join(examplesDir, plan.example), cwd);
  assertNotExisting(cwd, [...files.keys()]);
  for (const [path, text] of files) {
    const target = join(cwd, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { flag: "wx" });
  }
  return [...files.keys(), ...writeSchemas(cwd), ...ignoreState(cwd)];
}

export function assertNotExisting(cwd: string, files: readonly string[]): void {
  const existing = files.find((file) => existsSync(join(cwd, file)));
  if (existing === undefined) return;
  throw new UserError("file_exists", `${existing} already exists in this folder`, {
    hint: "Edit it, or create the new fleet in another folder.",
  });
}

function exampleTexts(plan: FleetPlan, folder: string, cwd: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .filter((path) => !isOwnReadme(path, cwd))
    .sort();
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(folder, path), "utf8");
      return [path, path === fleetFile ? adaptFleetFile(text, plan) : text];
    }),
  );
}

/** If the project already has a README, the example's README is not copied. */
function isOwnReadme(path: string, cwd: string): boolean {
  return path === "README.md" && existsSync(join(cwd, path));
}

/** Most examples set a runtime for a reason; the others get the one for the sign-in. */
function adaptFleetFile(text: string, { name, runtime }: FleetPlan): string {
  const renamed = text.replace(/(fleet:\s*\{?\s*name: )[\w-]+/, `$1${name}`);
  if (runtime === "sdk" || /^ *runtime:/m.test(renamed)) return renamed;
  return renamed.replace(/^defaults:\n/m, `defaults:\n${runtimeLine(runtime)}\n`);
}

function writeSchemas(cwd: string): string[] {
  const folder = join(cwd, ".herdctl", "schema");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return (["fleet", "agent"] as const).map((kind) => {
    const file = join(folder, `${kind}.json`);
    writeFileSync(file, `${JSON.stringify(jsonSchema(kind), null, 2)}\n`, { mode: 0o600 });
    return relative(cwd, file);
  });
}

function ignoreState(cwd: string): string[] {
  const file = join(cwd, ".gitignore");
  const current = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = [".herdctl/", ".env"].filter((line) => !current.split("\n").includes(line));
  if (missing.length === 0) return [];
  const gap = current === "" || current.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${gap}${missing.join("\n")}\n`);
  return [".gitignore"];
}
