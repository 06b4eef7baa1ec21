import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkout, endOf, type Run } from "../cli/herdctl.ts";
import { folderWith, type WhenOver, writeFiles } from "../support/folder.ts";
import { processesWith } from "../support/processes.ts";
import { sliceOf } from "../support/width.ts";
import { installInto, nodeFolder, npmEnv, packAll, tarballsIn, unpack } from "./release.ts";

/** The oldest that is promised, and the newest of the two lines after it. */
const nodes = sliceOf(["20.19.0", "22.23.3", "24.21.0"], 1);
/** Left to the wide round: the compiler takes as long as all the rest. */
const resolutions = sliceOf(["node16", "bundler"], 0);

/** Thousands of files take their time to go, too. */
const whenOver: WhenOver = (step) => afterAll(step, 300_000);
const tarballs = tarballsIn(await packAll(whenOver, "--only-packages"));
const folder = folderWith({ "package.json": '{ "private": true, "type": "module" }' }, whenOver);
mkdirSync(join(folder, "home"));
await installInto(folder, tarballs);

const megabyte = 1e6;

test.each(nodes)(
  "on Node %s the installed program runs its demo, and leaves nothing",
  async (version) => {
    const [temp, node] = [folderWith({}), await nodeFolder(version)];
    const env = npmEnv(folder);
    const own = { ...env, TMPDIR: temp, PATH: [node, env.PATH].join(delimiter) };
    const npx = (...args: string[]) =>
      endOf(spawn("npx", ["--no", "herdctl", ...args], { cwd: folder, env: own }));
    const used = await endOf(spawn("node", ["--version"], { env: own }));
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
    expect(processesWith(temp)).toEqual([]);
  },
);

test.each(resolutions)(
  "the types of every public door resolve with `moduleResolution: %s`",
  async (one) => {
    expect(await checkTypes(one)).toEqual({ code: 0, stdout: "", stderr: "" });
  },
);

test("nothing of ours runs at the installation", () => {
  const own = readdirSync(join(folder, "node_modules/@herdctl")).map((name) => `@herdctl/${name}`);
  for (const name of ["herdctl", ...own]) {
    expect(manifestOf(name).scripts ?? {}, name).toEqual({});
    expect(readdirSync(join(folder, "node_modules", name))).not.toContain("binding.gyp");
  }
});

test("docs/install.md says how large it is", () => {
  const whole = sizeOf(join(folder, "node_modules"));
  const claude = sizeOf(join(folder, "node_modules/@anthropic-ai", claudePackage()));
  process.stdout.write(
    `installed: ${inMegabytes(whole)} MB, ${inMegabytes(claude)} MB of it Claude Code\n`,
  );
  const page = readFileSync(join(checkout, "docs/install.md"), "utf8");
  const [, told, toldClaude] = /about (\d+) MB, of which Claude Code is (\d+)/.exec(page) ?? [];
  expect(Math.abs(Number(told) - inMegabytes(whole))).toBeLessThan(25);
  expect(Math.abs(Number(toldClaude) - inMegabytes(claude))).toBeLessThan(25);
});

/** Every public door is imported, and what the READMEs show is checked with it. */
async function checkTypes(moduleResolution: string): Promise<Run> {
  const doors = tarballs.flatMap((tarball) => doorsOf(unpack(tarball)));
  const imports = doors.map((door, at) => `import * as door${at} from "${door}";`);
  const uses = `export const doors = [${doors.map((_, at) => `door${at}`).join(", ")}];\n`;
  const shown = tarballs.flatMap((tarball) => blocksOf(unpack(tarball)));
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
  return await endOf(spawn(process.execPath, [tsc, "-p", project]));
}

function doorsOf(files: Map<string, string>): string[] {
  const { name, exports } = JSON.parse(files.get("package.json") ?? "");
  const doors = Object.keys(exports).filter((door) => !door.endsWith(".json"));
  return doors.map((door) => door.replace(".", name));
}

function blocksOf(files: Map<string, string>): string[] {
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
