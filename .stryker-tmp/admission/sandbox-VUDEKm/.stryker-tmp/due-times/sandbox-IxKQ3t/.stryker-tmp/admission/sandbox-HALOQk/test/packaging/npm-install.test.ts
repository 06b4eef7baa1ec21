import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type CommandResult, checkout, waitForExit } from "../cli/run-herdctl.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { type RegisterCleanup, tempFolderWith, writeFiles } from "../support/temp-folder.ts";
import { testSubset } from "../support/test-subset.ts";
import {
  installInto,
  nodeBinFolder,
  npmEnv,
  packAll,
  readTarball,
  tarballsIn,
} from "./npm-packages.ts";

/** The oldest supported version, and later release lines. */
const nodes = ["22.13.1", "24.21.0", "26.9.0"];
/** Only in the wide round, because the compiler takes as long as everything else. */
const resolutions = testSubset(["node16", "bundler"], 0);

/** Removing thousands of files takes a while. */
const onCleanup: RegisterCleanup = (step) => afterAll(step, 300_000);
const tarballs = tarballsIn(await packAll(onCleanup, "--only-packages"));
const folder = tempFolderWith(
  { "package.json": '{ "private": true, "type": "module" }' },
  onCleanup,
);
mkdirSync(join(folder, "home"));
await installInto(folder, tarballs);

const megabyte = 1e6;

test.each(nodes)(
  "runs the demo of the installed program on Node %s and leaves nothing behind",
  async (version) => {
    const [temp, node] = [tempFolderWith({}), await nodeBinFolder(version)];
    const env = npmEnv(folder);
    const own = { ...env, TMPDIR: temp, PATH: [node, env.PATH].join(delimiter) };
    const npx = (...args: string[]) =>
      waitForExit(spawn("npx", ["--no", "herdctl", ...args], { cwd: folder, env: own }));
    const used = await waitForExit(spawn("node", ["--version"], { env: own }));
    expect(used.stdout).toBe(`v${version}\n`);
    expect(await npx("--version")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });

    const { code, stdout, stderr } = await npx("demo", "--json");
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const { jobs, report } = JSON.parse(stdout);
    expect(jobs).toHaveLength(3);
    expect(report).toContain("every price counts");
    for (const job of jobs) expect(job).toMatchObject({ status: "completed", attempts: 1 });
    expect(readdirSync(temp).filter((name) => name.startsWith("herdctl"))).toEqual([]);
    expect(processesWithMarker(temp)).toEqual([]);
  },
);

test.each(resolutions)(
  "resolves the types of every public entry point with `moduleResolution: %s`",
  async (one) => {
    expect(await checkTypes(one)).toEqual({ code: 0, stdout: "", stderr: "" });
  },
);

test("runs none of our code during installation", () => {
  const own = readdirSync(join(folder, "node_modules/@herdctl")).map((name) => `@herdctl/${name}`);
  for (const name of ["herdctl", ...own]) {
    expect(manifestOf(name).scripts ?? {}, name).toEqual({});
    expect(readdirSync(join(folder, "node_modules", name))).not.toContain("binding.gyp");
  }
});

test("states the correct size in docs/guides/install.md", () => {
  const whole = sizeOf(join(folder, "node_modules"));
  const claude = sizeOf(join(folder, "node_modules/@anthropic-ai", claudePackage()));
  process.stdout.write(
    `installed: ${inMegabytes(whole)} MB, ${inMegabytes(claude)} MB of it Claude Code\n`,
  );
  const page = readFileSync(join(checkout, "docs/guides/install.md"), "utf8");
  const [, documentedSize, toldClaude] =
    /about (\d+) MB, of which Claude Code is (\d+)/.exec(page) ?? [];
  expect(Math.abs(Number(documentedSize) - inMegabytes(whole))).toBeLessThan(25);
  expect(Math.abs(Number(toldClaude) - inMegabytes(claude))).toBeLessThan(25);
});

/** Imports every public entry point and compiles the examples of the READMEs. */
async function checkTypes(moduleResolution: string): Promise<CommandResult> {
  const entryPoints = tarballs.flatMap((tarball) => entryPointsOf(readTarball(tarball)));
  const imports = entryPoints.map(
    (entryPoint, at) => `import * as door${at} from "${entryPoint}";`,
  );
  const uses = `export const doors = [${entryPoints.map((_, at) => `door${at}`).join(", ")}];\n`;
  const shown = tarballs.flatMap((tarball) => codeBlocksOf(readTarball(tarball)));
  const programs = {
    "doors.ts": `${imports.join("\n")}\n${uses}`,
    ...Object.fromEntries(shown.map((text, at) => [`shown-${at}.ts`, text])),
  };
  const module = moduleResolution === "bundler" ? "esnext" : moduleResolution;
  const options = {
    module,
    moduleResolution,
    target: "es2022",
    strict: true,
    noEmit: true,
    types: ["node"],
  };
  const project = join(folder, moduleResolution);
  writeFiles(project, {
    ...programs,
    "tsconfig.json": JSON.stringify({ compilerOptions: options }),
  });
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  return await waitForExit(spawn(process.execPath, [tsc, "-p", project]));
}

function entryPointsOf(files: Map<string, string>): string[] {
  const { name, exports } = JSON.parse(files.get("package.json") ?? "");
  const entryPoints = Object.keys(exports).filter((entryPoint) => !entryPoint.endsWith(".json"));
  return entryPoints.map((entryPoint) => entryPoint.replace(".", name));
}

function codeBlocksOf(files: Map<string, string>): string[] {
  const blocks = files.get("README.md")?.matchAll(/```ts\n([\s\S]*?)```/g) ?? [];
  return [...blocks].map(([, text = ""]) => text);
}

function manifestOf(name: string) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
}

function claudePackage(): string {
  const names = readdirSync(join(folder, "node_modules/@anthropic-ai"));
  return names.find((name) => name.startsWith("claude-agent-sdk-")) ?? "none";
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / megabyte);
}
