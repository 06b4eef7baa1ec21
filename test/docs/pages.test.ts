import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadFleet } from "@herdctl/core";
import { expect, test } from "vitest";
import { endOf, ownEnv, program } from "../cli/herdctl.ts";
import { folderWith } from "../support/folder.ts";

const checkout = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(checkout, path), "utf8");

const pages = [
  ...readdirSync(checkout),
  ...readdirSync(join(checkout, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  ),
].filter((name) => name.endsWith(".md"));

test("the generated pages are as fresh as the schema", async () => {
  const script = join(checkout, "scripts/docs.mjs");
  const run = await endOf(spawn(process.execPath, [script, "--check"], { env: ownEnv() }));
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

test.each(pages)("the links of %s lead somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, to]) => to ?? "");
  const inside = links.filter((to) => !/^[a-z]+:/.test(to));
  const dead = inside.filter((to) => !existsSync(resolve(checkout, dirname(page), to)));
  expect(dead).toEqual([]);
});

test.each([
  ["ARCHITECTURE.md", 60],
  ["docs/runner.md", 5],
  ["docs/gateway.md", 1],
])("the source files that %s walks through exist", (page, atLeast) => {
  const roots = ["packages", "scripts", "test"];
  const files = roots.flatMap((root) =>
    readdirSync(join(checkout, root), { recursive: true, encoding: "utf8" })
      .filter((name) => !/(^|\/)(node_modules|dist)(\/|$)/.test(name))
      .map((name) => `/${root}/${name}`),
  );
  const named = [...read(page).matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)];
  const paths = named.map(([, path = ""]) => path).filter((path) => !path.startsWith("."));
  expect(paths.length).toBeGreaterThanOrEqual(atLeast);
  expect(paths.filter((path) => !files.some((file) => file.endsWith(`/${path}`)))).toEqual([]);
});

/** A fleet begins with a block headed `# herdctl.yaml`; blocks headed by other files belong to it. */
function fleetsOf(page: string): Record<string, string>[] {
  const blocks = read(page).matchAll(/```yaml\n# (\S+\.yaml)\n([\s\S]*?)```/g);
  const fleets: Record<string, string>[] = [];
  for (const [, file = "", text = ""] of blocks) {
    if (file === "herdctl.yaml") fleets.push({});
    Object.assign(fleets.at(-1) ?? {}, { [file]: text });
  }
  return fleets;
}

test.each([
  ["README.md", 1],
  ["docs/configuration.md", 4],
  ["docs/embedding.md", 1],
  ["docs/gateway.md", 1],
  ["docs/webhooks.md", 1],
  ["docs/chat.md", 1],
  ["docs/discord.md", 1],
  ["docs/slack.md", 2],
  ["docs/hooks.md", 1],
  ["docs/herd-tools.md", 1],
  ["docs/work-source.md", 1],
  ["docs/chains.md", 1],
  ["docs/mcp.md", 1],
  ["plugin/skills/herdctl/SKILL.md", 2],
])("the fleets shown in %s load as they stand", (page, count) => {
  const fleets = fleetsOf(page);
  expect(fleets).toHaveLength(count);
  for (const files of fleets) {
    const file = join(folderWith(files), "herdctl.yaml");
    expect(loadFleet(file, { GITHUB_TOKEN: "made-up" }).fleet.agents).not.toHaveLength(0);
  }
});

test("the guide is right about what the example of layers comes to", () => {
  const files = fleetsOf("docs/configuration.md")[1] ?? {};
  const { fleet } = loadFleet(join(folderWith(files), "herdctl.yaml"), {});
  expect(fleet.agents[0]?.docker).toMatchObject({
    memory: 1024 ** 3,
    pids_limit: 300,
    egress: ["npm"],
    volumes: [{ target: "/cache", mode: "rw" }],
  });
});

test("the guide is right about the names of included agents", () => {
  const files = fleetsOf("docs/configuration.md")[3] ?? {};
  const { fleet } = loadFleet(join(folderWith(files), "herdctl.yaml"), {});
  expect(fleet.agents.map((agent) => agent.name)).toEqual(["shop.coder", "trial.coder"]);
});

test("the map of requirements has no gap, and a gap is found", async () => {
  const whole = read("docs/requirements.md");
  const script = join(checkout, "scripts/requirements.mjs");
  const look = (page: string) => {
    const file = join(folderWith({ "requirements.md": page }), "requirements.md");
    return endOf(spawn(process.execPath, [script, file], { env: ownEnv() }));
  };
  expect(await look(whole)).toEqual({ code: 0, stdout: "", stderr: "" });
  const gaps: [page: string, problem: string][] = [
    [whole.replace(/^\| RUN-01 .*\n/m, ""), "RUN-01 stands in 0 rows"],
    [whole.replace("“success has everything on record”", "“nobody wrote this”"), "has no test"],
    [whole.replace(/^\| CONFIG-03 .*$/m, "| CONFIG-03 | it is so | trust us |"), "names no test"],
    [whole.replace(/^(\| DOCS-01 .*) 11 \|$/m, "$1 soon |"), "DOCS-01 names no issue"],
  ];
  for (const [page, problem] of gaps) {
    const { code, stderr } = await look(page);
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
  }
});

test("each guarantee of SECURITY.md names the test that shows it", () => {
  const [, section = ""] = /### In force today\n([\s\S]*?)\n### /.exec(read("SECURITY.md")) ?? [];
  const guarantees = section.split(/^- /m).slice(1);
  expect(guarantees.length).toBeGreaterThan(30);
  expect(guarantees.filter((one) => !/\]\(test\/[\w./-]+\)/.test(one))).toEqual([]);
});

const runner = "packages/core/src/runner";

test.each([
  [
    "flag",
    [`${runner}/runtime/arguments.ts`, `${runner}/runtime/cli-runtime.ts`],
    /"(--[A-Za-z-]+)/g,
  ],
  ["variable", [`${runner}/environment.ts`], /\b([A-Z][A-Z_]{3,})\b/g],
])("docs/runner.md knows every %s that a run is given", (_what, files, pattern) => {
  const named = files.flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([, one = ""]) => one),
  );
  expect(named.length).toBeGreaterThan(10);
  const page = read("docs/runner.md");
  expect(named.filter((name) => !page.includes(name))).toEqual([]);
});

test("README quotes the demo as it is", async () => {
  const [, quoted = ""] = /Shortened:\n\n```\n([\s\S]*?)```/.exec(read("README.md")) ?? [];
  const temp = folderWith({});
  const demo = spawn(program, ["demo"], { cwd: temp, env: ownEnv({ TMPDIR: temp }) });
  const shown = unvarying((await endOf(demo)).stdout);
  const lines = unvarying(quoted).filter((line) => line !== "…");
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !shown.some((whole) => isSame(whole, line)))).toEqual([]);
});

/** A quoted line may break off at a `…`. */
function isSame(whole: string, quoted: string): boolean {
  return quoted.endsWith(" …") ? whole.startsWith(quoted.slice(0, -1)) : whole === quoted;
}

/** Lines without what is different each time: ids, links, times, amounts, and the columns they stand in. */
function unvarying(text: string): string[] {
  return text
    .replaceAll(/job-\d{4}-\d\d-\d\d-\w+/g, "<job>")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/login#\S+/g, "<link>")
    .replaceAll(/\d\d:\d\d:\d\d/g, "<clock>")
    .replaceAll(/\b\d+(\.\d+)? s\b/g, "<time>")
    .replaceAll(/\$\d+\.\d+/g, "<cost>")
    .replaceAll(/ {2,}/g, "  ")
    .split("\n");
}
