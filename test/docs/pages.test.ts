import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/core";
import { expect, test } from "vitest";
import {
  type CredentialsPresent,
  chooseCredential,
} from "../../packages/core/src/runner/credential.ts";
import { outcomes } from "../../packages/core/src/runner/outcomes.ts";
import { checkout, endOf, ownEnv, program } from "../cli/herdctl.ts";
import { folderWith } from "../support/folder.ts";
import { fleetsOf, read } from "./blocks.ts";
import { loadFiles, readAsMeant } from "./shown-yaml.ts";
import { isQuoteOf, unvarying } from "./unvarying.ts";

test("the generated pages are as fresh as what they are made from", async () => {
  const script = join(checkout, "scripts/docs.mjs");
  const run = await endOf(spawn(process.execPath, [script, "--check"], { env: ownEnv() }));
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

test.each([
  ["ARCHITECTURE.md", 60],
  ["docs/runner.md", 4],
  ["docs/internals.md", 2],
  ["docs/sessions.md", 1],
  ["docs/mcp-servers.md", 1],
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
  const files = fleetsOf("docs/configuration.md")[4] ?? {};
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
    [`${whole}\n## Not built yet\n\n| DOCS-01 | a table | soon |\n`, "DOCS-01 names no issue"],
  ];
  for (const [page, problem] of gaps) {
    const { code, stderr } = await look(page);
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
  }
});

/** A link names the file; what is quoted after it, up to the next link, are tests in that file. */
function testsNamed(row: string): { file: string; name: string }[] {
  return row.split("](../").flatMap((part) => {
    const file = /^(test\/[\w./-]+)\)/.exec(part)?.[1];
    const names = [...part.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => name);
    return file === undefined ? [] : names.map((name) => ({ file, name }));
  });
}

test.each([
  ["docs/security.md", "Containers, threat by threat", 20],
  ["docs/recovery.md", "Who dies, and what follows", 5],
])("every guarantee of %s names a test that is there", (page, heading, atLeast) => {
  const [section = ""] = read(page).split(`\n## ${heading}\n`)[1]?.split("\n## ") ?? [];
  const rows = [...section.matchAll(/^\|.*\|$/gm)].map(([row]) => row).slice(2);
  expect(rows.length).toBeGreaterThan(atLeast);
  expect(rows.filter((row) => testsNamed(row).length === 0)).toEqual([]);
  const missing = rows.flatMap(testsNamed).filter(({ file, name }) => !read(file).includes(name));
  expect(missing).toEqual([]);
});

test("docs/recovery.md knows what follows every outcome", () => {
  const [section = ""] = read("docs/recovery.md").split("## Trying again")[1]?.split("##") ?? [];
  const rows = [...section.matchAll(/^\| .* \| (`.*`) \|$/gm)].map(([, codes = ""]) => codes);
  const followed = (["no", "backoff", "wait", "person"] as const).map((retry) =>
    Object.entries(outcomes).flatMap(([code, facts]) => (facts.retry === retry ? [code] : [])),
  );
  const listed = rows.map((codes) => codes.replaceAll("`", "").split(" ").sort());
  expect(listed).toEqual(followed.map((codes) => codes.sort()));
});

test("docs/sdk-or-cli.md is right about which runtime takes which credential", async () => {
  const { agents } = loadFiles(fleetsOf("docs/sdk-or-cli.md")[0] ?? {}).fleet;
  const servedBy = (present: CredentialsPresent) =>
    agents.map((agent) => [agent.name, chooseCredential(agent, present).kind]);
  expect(servedBy({ apiKey: "made-up", login: true })).toEqual([
    ["nightly", "subscription"],
    ["support", "api_key"],
  ]);
  expect(servedBy({ apiKey: "made-up", login: false })[0]).toEqual(["nightly", "none"]);
  await expect(readAsMeant("runtime: sdk\ncredential: subscription\n")).rejects.toThrow(/SDK/);
});

test("each guarantee of docs/security.md names the test that shows it, on one line", () => {
  const [, section = ""] = /\n## Guarantees\n([\s\S]*?)\n## /.exec(read("docs/security.md")) ?? [];
  const guarantees = section.split("\n").filter((line) => line.startsWith("- "));
  expect(guarantees.length).toBeGreaterThan(30);
  expect(guarantees.filter((one) => !/\]\(\.\.\/test\/[\w./-]+\)/.test(one))).toEqual([]);
});

test("SECURITY.md says how to report, how fast we answer and what is supported", () => {
  const headings = [...read("SECURITY.md").matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(headings).toEqual([
    "Report a vulnerability",
    "What happens next",
    "Supported versions",
    "Safe harbour",
    "Scope",
    "Past advisories",
  ]);
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
  const shown = unvarying((await endOf(demo)).stdout).split("\n");
  const lines = unvarying(quoted)
    .split("\n")
    .filter((line) => line !== "…");
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !shown.some((whole) => isQuoteOf(line, whole)))).toEqual([]);
});
