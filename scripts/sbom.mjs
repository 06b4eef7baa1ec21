import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";
import { run } from "./run.mjs";

const root = resolve(import.meta.dirname, "..");

/**
 * A CycloneDX document of all that an installed `herdctl` is made of: what npm fetches for it, then
 * what is built into its packages, with the tools that build it.
 */
export async function billOfMaterials() {
  const [installed, ...builtIn] = await Promise.all([
    list(["--prod", "--filter", "herdctl"]),
    list(["--dev", "--filter", "herdctl"]),
    list(["--filter", "@herdctl/dashboard"]),
  ]);
  const known = new Map(installed.components.map((one) => [one["bom-ref"], one]));
  for (const one of builtIn.flatMap(({ components }) => components)) {
    if (!known.has(one["bom-ref"])) known.set(one["bom-ref"], { ...one, properties: builtInMark });
  }
  const components = [...known.values()].map(withoutHosts).sort(byReference);
  return { ...installed, components };
}

const builtInMark = [{ name: "herdctl:place", value: "built in, or builds it" }];

/** Where a package was fetched from is the business of whoever installs. */
function withoutHosts({ externalReferences: _, ...component }) {
  return component;
}

function byReference(one, other) {
  return one["bom-ref"] < other["bom-ref"] ? -1 : 1;
}

async function list(which) {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-sbom-"));
  const file = join(folder, "sbom.json");
  const [program, ...args] = pnpm;
  const options = ["--sbom-format", "cyclonedx", "--sbom-type", "application", "--lockfile-only"];
  try {
    await run(program, [...args, "sbom", ...options, ...which, "--out", file], { cwd: root });
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
