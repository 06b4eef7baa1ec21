import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { expect, test } from "vitest";
import {
  type AvailableCredentials,
  chooseCredential,
} from "../../packages/core/src/claude/credential.ts";
import { outcomes } from "../../packages/protocol/src/outcome-table.ts";
import { checkout, minimalEnv, program, waitForExit } from "../cli/run-herdctl.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { fleetFilesOf, readPage } from "./code-blocks.ts";
import { isQuotedFrom, normalizeOutput } from "./normalize-output.ts";
import { loadExampleFiles, validateYamlExample } from "./yaml-examples.ts";

test("keeps the generated pages up to date", async () => {
  const script = join(checkout, "scripts/docs.mjs");
  const run = await waitForExit(
    spawn(process.execPath, [script, "--check"], { env: minimalEnv() }),
  );
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

test.each([
  ["ARCHITECTURE.md", 40],
  ["docs/explanation/runner.md", 4],
  ["docs/explanation/internals.md", 2],
  ["docs/guides/sessions.md", 1],
  ["docs/guides/mcp-servers.md", 1],
  ["docs/guides/egress-and-gateway.md", 1],
])("names existing source files in %s", (page, atLeast) => {
  const roots = ["packages", "scripts", "test", "bench"];
  const files = roots.flatMap((root) =>
    readdirSync(join(checkout, root), { recursive: true, encoding: "utf8" })
      .filter((name) => !/(^|\/)(node_modules|dist)(\/|$)/.test(name))
      .map((name) => `/${root}/${name}`),
  );
  const named = [...readPage(page).matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)];
  const paths = named.map(([, path = ""]) => path).filter((path) => !path.startsWith("."));
  expect(paths.length).toBeGreaterThanOrEqual(atLeast);
  expect(paths.filter((path) => !files.some((file) => file.endsWith(`/${path}`)))).toEqual([]);
});

test("states the correct result for the example of layers", () => {
  const files = fleetFilesOf("docs/guides/configuration.md")[1] ?? {};
  const { fleet } = loadFleet(join(tempFolderWith(files), "herdctl.yaml"), {});
  expect(fleet.agents[0]?.docker).toMatchObject({
    memory: 1024 ** 3,
    pids_limit: 300,
    egress: ["npm"],
    volumes: [{ target: "/cache", mode: "rw" }],
  });
});

test("states the correct names of included agents", () => {
  const files = fleetFilesOf("docs/guides/configuration.md")[4] ?? {};
  const { fleet } = loadFleet(join(tempFolderWith(files), "herdctl.yaml"), {});
  expect(fleet.agents.map((agent) => agent.name)).toEqual(["shop.coder", "trial.coder"]);
});

test("covers every requirement, and reports a gap", async () => {
  const whole = readPage("docs/reference/requirements.md");
  const script = join(checkout, "scripts/check-requirements.mjs");
  const check = (page: string) => {
    const file = join(tempFolderWith({ "requirements.md": page }), "requirements.md");
    return waitForExit(spawn(process.execPath, [script, file], { env: minimalEnv() }));
  };
  expect(await check(whole)).toEqual({ code: 0, stdout: "", stderr: "" });
  const gaps: [page: string, problem: string][] = [
    [whole.replace(/^\| RUN-01 .*\n/m, ""), "RUN-01 is in 0 rows"],
    [whole.replace("“records every detail of a success”", "“does not exist”"), "has no test"],
    [whole.replace(/^\| CONFIG-03 .*$/m, "| CONFIG-03 | it is so | trust us |"), "names no test"],
    [`${whole}\n## Not built yet\n\n| DOCS-01 | a table | soon |\n`, "DOCS-01 names no issue"],
  ];
  for (const [page, problem] of gaps) {
    const { code, stderr } = await check(page);
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
  }
});

/** A link names the file; the quotes after it, up to the next link, are tests in that file. */
function testsNamed(row: string): { file: string; name: string }[] {
  return row.split(/\]\((?:\.\.\/)+/).flatMap((part) => {
    const file = /^(test\/[\w./-]+)\)/.exec(part)?.[1];
    const names = [...part.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => name);
    return file === undefined ? [] : names.map((name) => ({ file, name }));
  });
}

test.each([
  ["docs/explanation/security.md", "Containers, threat by threat", 20],
  ["docs/explanation/recovery.md", "What happens when a process dies", 5],
])("names an existing test for every guarantee of %s", (page, heading, atLeast) => {
  const [section = ""] = readPage(page).split(`\n## ${heading}\n`)[1]?.split("\n## ") ?? [];
  const rows = [...section.matchAll(/^\|.*\|$/gm)].map(([row]) => row).slice(2);
  expect(rows.length).toBeGreaterThan(atLeast);
  expect(rows.filter((row) => testsNamed(row).length === 0)).toEqual([]);
  const missing = rows
    .flatMap(testsNamed)
    .filter(({ file, name }) => !readPage(file).includes(name));
  expect(missing).toEqual([]);
});

test("lists every outcome in docs/explanation/recovery.md", () => {
  const [section = ""] =
    readPage("docs/explanation/recovery.md").split("## Retries")[1]?.split("##") ?? [];
  const rows = [...section.matchAll(/^\| .* \| (`.*`) \|$/gm)].map(([, codes = ""]) => codes);
  const followed = (["no", "backoff", "wait", "person"] as const).map((retry) =>
    Object.entries(outcomes).flatMap(([code, facts]) => (facts.retry === retry ? [code] : [])),
  );
  const listed = rows.map((codes) => codes.replaceAll("`", "").split(" ").sort());
  expect(listed).toEqual(followed.map((codes) => codes.sort()));
});

test("states correctly which runtime takes which credential in docs/guides/choose-a-runtime.md", async () => {
  const { agents } = loadExampleFiles(
    fleetFilesOf("docs/guides/choose-a-runtime.md")[0] ?? {},
  ).fleet;
  const servedBy = (present: AvailableCredentials) =>
    agents.map((agent) => [agent.name, chooseCredential(agent, present).kind]);
  expect(servedBy({ apiKey: "made-up", login: true })).toEqual([
    ["nightly", "subscription"],
    ["support", "api_key"],
  ]);
  expect(servedBy({ apiKey: "made-up", login: false })[0]).toEqual(["nightly", "none"]);
  await expect(validateYamlExample("runtime: sdk\ncredential: subscription\n")).rejects.toThrow(
    /SDK/,
  );
});

test("names the test of each guarantee in docs/explanation/security.md on one line", () => {
  const [, section = ""] =
    /\n## Guarantees\n([\s\S]*?)\n## /.exec(readPage("docs/explanation/security.md")) ?? [];
  const guarantees = section.split("\n").filter((line) => line.startsWith("- "));
  expect(guarantees.length).toBeGreaterThan(30);
  expect(guarantees.filter((one) => !/\]\((?:\.\.\/)+test\/[\w./-]+\)/.test(one))).toEqual([]);
});

test("states in SECURITY.md how to report, how fast we answer and what is supported", () => {
  const headings = [...readPage("SECURITY.md").matchAll(/^## (.+)$/gm)].map(([, title]) => title);
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
    [
      `${runner}/runtimes/claude-options/build-invocation.ts`,
      `${runner}/runtimes/claude-options/cli-arguments.ts`,
    ],
    /(?:[fF]lag\(|--)"?([A-Za-z][A-Za-z-]+)/g,
  ],
  ["variable", [`${runner}/execution/open-run.ts`], /\b([A-Z][A-Z_]{3,})\b/g],
])("lists every %s of a run in docs/explanation/runner.md", (_what, files, pattern) => {
  const named = files.flatMap((file) =>
    [...readPage(file).matchAll(pattern)].map(([, one = ""]) => one),
  );
  expect(named.length).toBeGreaterThan(10);
  const page = readPage("docs/explanation/runner.md");
  expect(named.filter((name) => !page.includes(name))).toEqual([]);
});

test("quotes the demo correctly in the README", async () => {
  const [, quoted = ""] = /Shortened:\n\n```\n([\s\S]*?)```/.exec(readPage("README.md")) ?? [];
  const temp = tempFolderWith({});
  const demo = spawn(program, ["demo"], { cwd: temp, env: minimalEnv({ TMPDIR: temp }) });
  const shown = normalizeOutput((await waitForExit(demo)).stdout).split("\n");
  const lines = normalizeOutput(quoted)
    .split("\n")
    .filter((line) => line !== "…");
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !shown.some((whole) => isQuotedFrom(line, whole)))).toEqual([]);
});
