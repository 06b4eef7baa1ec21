import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";
import { run } from "./run-program.mjs";

const root = resolve(import.meta.dirname, "..");

/**
 * A CycloneDX document of an installed `herdctl`: its npm dependencies, the packages that are bundled
 * into it, and the build tools.
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

/** Removes download URLs, which depend on the registry of the build machine. */
function withoutHosts({ externalReferences: _, ...component }) {
  return component;
}

function byReference(one, other) {
  return one["bom-ref"] < other["bom-ref"] ? -1 : 1;
}

async function list(filters) {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-sbom-"));
  const file = join(folder, "sbom.json");
  const [program, ...args] = pnpm;
  const options = ["--sbom-format", "cyclonedx", "--sbom-type", "application", "--lockfile-only"];
  try {
    await run(program, [...args, "sbom", ...options, ...filters, "--out", file], { cwd: root });
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
