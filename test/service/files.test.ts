import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import {
  entryNames,
  keptEntries,
  nodeEnvironment,
  systemdEnvironment,
} from "../../packages/cli/src/service/environment-file.ts";
import { isPlistOf, launchdPlist } from "../../packages/cli/src/service/launchd-plist.ts";
import type { ServiceFacts } from "../../packages/cli/src/service/service-facts.ts";
import { serviceVariables } from "../../packages/cli/src/service/service-variables.ts";
import { isUnitOf, systemdUnit } from "../../packages/cli/src/service/systemd-unit.ts";
import { checkout, herdctl } from "../cli/herdctl.ts";
import { inlineAgent } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { systemdIsThere } from "../support/user-systemd.ts";

await systemdIsThere();

/** A folder whose name means something to each of the formats. */
const dir = `/srv/a & b "100%" $HOME`;
const facts: ServiceFacts = {
  ...{ name: "herdctl-test", fleet: "test", fleetFile: `${dir}/herdctl.yaml`, fleetDir: dir },
  ...{ environmentFile: `${dir}/.herdctl/service.env`, logDir: `${dir}/.herdctl/logs` },
  ...{ path: "/usr/local/bin:/usr/bin", node: "/usr/bin/node", script: "/opt/herdctl/herdctl.mjs" },
};

test("the unit is the one that was reviewed", async () => {
  await expect(systemdUnit(facts)).toMatchFileSnapshot("golden/herdctl-test.service");
});

test("the launch agent is the one that was reviewed", async () => {
  await expect(launchdPlist(facts)).toMatchFileSnapshot("golden/herdctl-test.plist");
});

test("a node of several is started as what it is, however often the system starts it", () => {
  const node = { ...facts, nodeFlags: ["--role", "worker", "--labels", "gpu,eu"] };
  expect(systemdUnit(node)).toContain(
    '"start" "--leave-jobs" "--role" "worker" "--labels" "gpu,eu" "--config"',
  );
  expect(launchdPlist(node)).toMatch(/--labels<\/string>\s+<string>gpu,eu</);
});

test("a service is known by its fleet's file", () => {
  expect(isUnitOf(systemdUnit(facts), facts.fleetFile)).toBe(true);
  expect(isUnitOf(systemdUnit(facts), "/srv/herdctl.yaml")).toBe(false);
  expect(isPlistOf(launchdPlist(facts), facts.fleetFile)).toBe(true);
  expect(isPlistOf(launchdPlist(facts), "/srv/herdctl.yaml")).toBe(false);
});

/** The unit as a file, with everything that it names in place. */
function unitFile(): { file: string; env: NodeJS.ProcessEnv } {
  const folder = folderWith({ 'a "100%" $HOME/.herdctl/service.env': "" });
  const fleetDir = join(folder, 'a "100%" $HOME');
  const unit = systemdUnit({
    ...facts,
    ...{ fleetDir, fleetFile: join(fleetDir, "herdctl.yaml"), node: process.execPath },
    environmentFile: join(fleetDir, ".herdctl/service.env"),
  });
  const file = join(folderWith({ "herdctl-test.service": unit }), "herdctl-test.service");
  return { file, env: { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder } };
}

test("systemd finds nothing wrong with the unit", () => {
  const { file, env } = unitFile();
  const run = ["-c", 'systemd-analyze verify --user "$1" 2>&1', "sh", file];
  expect(execFileSync("sh", run, { env, encoding: "utf8" })).toBe("");
});

test("systemd-analyze security rates the unit no higher than the documentation says", () => {
  const { file, env } = unitFile();
  const run = ["-c", 'systemd-analyze security --user --offline=yes "$1"', "sh", file];
  const report = execFileSync("sh", run, { env, encoding: "utf8" });
  const [, exposure = "10"] = /exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
  const page = readFileSync(join(checkout, "docs/service.md"), "utf8");
  const [, documented = "0"] = /exposure level of ([\d.]+)/.exec(page) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(Number(documented));
});

describe("the environment file", () => {
  const odd = { PLAIN: "a", QUOTES: `it's "so"`, SHELL_LIKE: "$HOME `id` \\n", LINES: "a\nb" };

  test("gives Node back what went in", () => {
    expect(parseEnv(nodeEnvironment(odd))).toEqual(odd);
  });

  test("refuses what Node could not read back", () => {
    expect(() => nodeEnvironment({ ODD: "'\"`" })).toThrow("ODD");
  });

  test.each([
    ["systemd", systemdEnvironment],
    ["node", nodeEnvironment],
  ])("keeps for %s what an earlier install was given", (_, write) => {
    const before = write({ ...odd, KEY: "old" });
    const now = { PLAIN: "b", KEY: "new" };
    const text = write(now) + keptEntries(before, now);
    expect(entryNames(text)).toEqual(["KEY", "LINES", "PLAIN", "QUOTES", "SHELL_LIKE"]);
    expect(text).not.toContain("old");
    expect(keptEntries(text, odd)).toBe(write({ KEY: "new" }));
  });

  test("holds what the configuration names and a fleet goes by, and nothing else of the shell", () => {
    const env = {
      PATH: "/bin",
      HOME: "/h",
      ANTHROPIC_API_KEY: "k",
      HOOK: "s",
      AWS_SECRET: "x",
      TZ: "",
    };
    const given = { PATH: "/bin", ANTHROPIC_API_KEY: "k", HOOK: "s" };
    expect(serviceVariables(env, ["HOOK", "UNSET"])).toEqual(given);
  });
});

const agent = `env: { DEPLOY: "\${DEPLOY_TOKEN}" }
default_prompt: go
schedules: { hook: { type: webhook, signature: { kind: github, secret_env: HOOK_SECRET } } }`;
const secrets = {
  DEPLOY_TOKEN: "made-up-one",
  HOOK_SECRET: "made-up-two-long-enough",
  OTHER: "made-up-three",
};

test.each([
  ["systemd", ".config/systemd/user/herdctl-test.service"],
  ["launchd", "Library/LaunchAgents/herdctl-test.plist"],
])("--print shows for %s what would be written, with no value in it", async (platform, path) => {
  const cwd = folderWith(inlineAgent(agent));
  const args = ["service", "install", "--print", "--platform", platform];
  const run = await herdctl(args, { cwd, env: { HOME: cwd, ...secrets } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain(join(cwd, path));
  expect(run.stdout).toContain(join(checkout, "packages/cli/dist/herdctl.mjs"));
  expect(run.stdout).toContain("DEPLOY_TOKEN=…\nHOOK_SECRET=…");
  expect(run.stdout).not.toMatch(/made-up|OTHER/);
  expect(() => statSync(join(cwd, path))).toThrow();
});

test("where neither keeps services it says so, with what to do instead, and writes nothing", async () => {
  const cwd = folderWith(inlineAgent("default_prompt: go"));
  const env = { HOME: cwd, XDG_RUNTIME_DIR: join(cwd, "none") };
  for (const platform of ["systemd", "launchd"]) {
    const args = ["service", "install", "--platform", platform, "--json"];
    const run = await herdctl(args, { cwd, env });
    expect(run.code).toBe(4);
    const { errors } = JSON.parse(run.stdout);
    expect(errors).toMatchObject([
      { code: "service_unavailable", hint: expect.stringContaining("herdctl start") },
    ]);
  }
  expect(() => readFileSync(join(cwd, ".herdctl/service.env"))).toThrow("ENOENT");
  const unknown = await herdctl(["service", "install", "--platform", "cron"], { cwd, env });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("systemd") });
  const status = await herdctl(["service", "status", "--json"], { cwd, env });
  expect(status.code).toBe(3);
  expect(JSON.parse(status.stdout)).toMatchObject({ installed: false, running: false });
});
