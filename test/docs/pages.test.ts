import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadFleet } from "@herdctl/core";
import { expect, test } from "vitest";
import { endOf, ownEnv } from "../cli/herdctl.ts";
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

test("the files that ARCHITECTURE.md walks through exist", () => {
  const roots = ["packages", "scripts"];
  const files = roots.flatMap((root) =>
    readdirSync(join(checkout, root), { recursive: true, encoding: "utf8" })
      .filter((name) => !/(^|\/)(node_modules|dist)(\/|$)/.test(name))
      .map((name) => `/${root}/${name}`),
  );
  const named = [...read("ARCHITECTURE.md").matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)];
  const paths = named.map(([, path = ""]) => path).filter((path) => !path.startsWith("."));
  expect(paths.length).toBeGreaterThan(10);
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

test("each requirement points at tests that exist", () => {
  const rows = read("docs/requirements.md").matchAll(/^\| ([A-Z]+-\d+) .*$/gm);
  const missing = [...rows].flatMap(([row, id]) =>
    [...row.matchAll(/\]\(\.\.\/([^)]+)\): ([^;|]+)/g)].flatMap(([, file = "", names = ""]) =>
      [...names.matchAll(/“([^”]+)”/g)]
        .filter(([, name = ""]) => !read(file).includes(name))
        .map(([, name]) => `${id}: ${file} has no test “${name}”`),
    ),
  );
  expect(missing).toEqual([]);
});
