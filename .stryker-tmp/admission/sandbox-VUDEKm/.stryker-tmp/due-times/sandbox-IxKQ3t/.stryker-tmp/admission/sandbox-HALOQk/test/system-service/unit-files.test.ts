import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import {
  listEntryNames,
  renderNodeEnvironment,
  renderSystemdEnvironment,
  retainedEntries,
} from "../../packages/cli/src/service/environment-file.ts";
import { isFleetPlist, renderLaunchdPlist } from "../../packages/cli/src/service/launchd-plist.ts";
import type { ServiceSpec } from "../../packages/cli/src/service/service-spec.ts";
import { selectServiceVariables } from "../../packages/cli/src/service/service-variables.ts";
import { isFleetUnit, renderSystemdUnit } from "../../packages/cli/src/service/systemd-unit.ts";
import { checkout, runHerdctl } from "../cli/run-herdctl.ts";
import { inlineAgent } from "../support/fleet-config.ts";
import { ensureSystemd } from "../support/systemd-user-instance.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await ensureSystemd();

/** A folder name with special characters of each format. */
const dir = `/srv/a & b "100%" $HOME`;
const facts: ServiceSpec = {
  ...{ name: "herdctl-test", fleet: "test", fleetFile: `${dir}/herdctl.yaml`, fleetDir: dir },
  ...{ environmentFile: `${dir}/.herdctl/service.env`, logDir: `${dir}/.herdctl/logs` },
  ...{
    searchPath: "/usr/local/bin:/usr/bin",
    nodePath: "/usr/bin/node",
    scriptPath: "/opt/herdctl/herdctl.mjs",
  },
};

test("matches the reviewed systemd unit", async () => {
  await expect(renderSystemdUnit(facts)).toMatchFileSnapshot("golden/herdctl-test.service");
});

test("matches the reviewed launch agent", async () => {
  await expect(renderLaunchdPlist(facts)).toMatchFileSnapshot("golden/herdctl-test.plist");
});

test("starts a node with its role and labels on every start", () => {
  const node = { ...facts, nodeFlags: ["--role", "worker", "--labels", "gpu,eu"] };
  expect(renderSystemdUnit(node)).toContain(
    '"start" "--leave-jobs" "--role" "worker" "--labels" "gpu,eu" "--config"',
  );
  expect(renderLaunchdPlist(node)).toMatch(/--labels<\/string>\s+<string>gpu,eu</);
});

test("names a service after its fleet file", () => {
  expect(isFleetUnit(renderSystemdUnit(facts), facts.fleetFile)).toBe(true);
  expect(isFleetUnit(renderSystemdUnit(facts), "/srv/herdctl.yaml")).toBe(false);
  expect(isFleetPlist(renderLaunchdPlist(facts), facts.fleetFile)).toBe(true);
  expect(isFleetPlist(renderLaunchdPlist(facts), "/srv/herdctl.yaml")).toBe(false);
});

/** Writes the unit to a file, with all files that it names. */
function writeUnitFile(): { file: string; env: NodeJS.ProcessEnv } {
  const folder = tempFolderWith({ 'a "100%" $HOME/.herdctl/service.env': "" });
  const fleetDir = join(folder, 'a "100%" $HOME');
  const unit = renderSystemdUnit({
    ...facts,
    ...{ fleetDir, fleetFile: join(fleetDir, "herdctl.yaml"), nodePath: process.execPath },
    environmentFile: join(fleetDir, ".herdctl/service.env"),
  });
  const file = join(tempFolderWith({ "herdctl-test.service": unit }), "herdctl-test.service");
  return { file, env: { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder } };
}

test("passes systemd's verification", () => {
  const { file, env } = writeUnitFile();
  const run = ["-c", 'systemd-analyze verify --user "$1" 2>&1', "sh", file];
  expect(execFileSync("sh", run, { env, encoding: "utf8" })).toBe("");
});

test("keeps the exposure in systemd-analyze security as low as documented", () => {
  const { file, env } = writeUnitFile();
  const run = ["-c", 'systemd-analyze security --user --offline=yes "$1"', "sh", file];
  const report = execFileSync("sh", run, { env, encoding: "utf8" });
  const [, exposure = "10"] = /exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
  const page = readFileSync(join(checkout, "docs/guides/service.md"), "utf8");
  const [, documented = "0"] = /exposure level of ([\d.]+)/.exec(page) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(Number(documented));
});

describe("environment file of a service", () => {
  const odd = { PLAIN: "a", QUOTES: `it's "so"`, SHELL_LIKE: "$HOME `id` \\n", LINES: "a\nb" };

  test("returns the same values through Node's parser", () => {
    expect(parseEnv(renderNodeEnvironment(odd))).toEqual(odd);
  });

  test("refuses values that Node could not read back", () => {
    expect(() => renderNodeEnvironment({ ODD: "'\"`" })).toThrow("ODD");
  });

  test.each([
    ["systemd", renderSystemdEnvironment],
    ["node", renderNodeEnvironment],
  ])("keeps for %s the values of an earlier install", (_, write) => {
    const before = write({ ...odd, KEY: "old" });
    const now = { PLAIN: "b", KEY: "new" };
    const text = write(now) + retainedEntries(before, now);
    expect(listEntryNames(text)).toEqual(["KEY", "LINES", "PLAIN", "QUOTES", "SHELL_LIKE"]);
    expect(text).not.toContain("old");
    expect(retainedEntries(text, odd)).toBe(write({ KEY: "new" }));
  });

  test("contains the variables that the configuration names and a fleet needs, and no others", () => {
    const env = {
      PATH: "/bin",
      HOME: "/h",
      ANTHROPIC_API_KEY: "k",
      HOOK: "s",
      AWS_SECRET: "x",
      TZ: "",
    };
    const given = { PATH: "/bin", ANTHROPIC_API_KEY: "k", HOOK: "s" };
    expect(selectServiceVariables(env, ["HOOK", "UNSET"])).toEqual(given);
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
])("prints for %s with --print what would be written, without values", async (platform, path) => {
  const cwd = tempFolderWith(inlineAgent(agent));
  const args = ["service", "install", "--print", "--platform", platform];
  const run = await runHerdctl(args, { cwd, env: { HOME: cwd, ...secrets } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain(join(cwd, path));
  expect(run.stdout).toContain(join(checkout, "packages/cli/dist/herdctl.mjs"));
  expect(run.stdout).toContain("DEPLOY_TOKEN=…\nHOOK_SECRET=…");
  expect(run.stdout).not.toMatch(/made-up|OTHER/);
  expect(() => statSync(join(cwd, path))).toThrow();
});

test("reports the alternatives without a service manager and writes nothing", async () => {
  const cwd = tempFolderWith(inlineAgent("default_prompt: go"));
  const env = { HOME: cwd, XDG_RUNTIME_DIR: join(cwd, "none") };
  for (const platform of ["systemd", "launchd"]) {
    const args = ["service", "install", "--platform", platform, "--json"];
    const run = await runHerdctl(args, { cwd, env });
    expect(run.code).toBe(4);
    const { errors } = JSON.parse(run.stdout);
    expect(errors).toMatchObject([
      { code: "service_unavailable", hint: expect.stringContaining("herdctl start") },
    ]);
  }
  expect(() => readFileSync(join(cwd, ".herdctl/service.env"))).toThrow("ENOENT");
  const unknown = await runHerdctl(["service", "install", "--platform", "cron"], { cwd, env });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("systemd") });
  const status = await runHerdctl(["service", "status", "--json"], { cwd, env });
  expect(status.code).toBe(3);
  expect(JSON.parse(status.stdout)).toMatchObject({ installed: false, running: false });
});
