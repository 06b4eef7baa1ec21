import { chownSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Check, examine, loadFleet } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { insider } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { folderWith } from "../support/folder.ts";

const { dockerHost, image, base } = await testEngine();

interface Fleet {
  docker?: string;
  agent?: string;
  files?: Record<string, string>;
}

/** A fleet with one agent in a container. */
function fleetFolder({ docker = "", agent = "", files = {} }: Fleet): string {
  const folder = folderWith({
    "herdctl.yaml": `version: 1
fleet: { name: test }
agents:
  - name: one
    working_directory: work
    docker: { enabled: true${docker && `, ${docker}`} }
${agent && `    ${agent}\n`}`,
    "work/readme": "",
    ...files,
  });
  chownSync(join(folder, "work"), insider.uid, insider.gid);
  return folder;
}

/** What the doctor says of it, by the name of each check. */
async function examined(
  folder: string,
  env: Record<string, string> = {},
): Promise<Record<string, Check>> {
  const given = { PATH: process.env.PATH ?? "", HOME: folder, DOCKER_HOST: dockerHost, ...env };
  const loaded = loadFleet(join(folder, "herdctl.yaml"), given);
  const setUp = { kind: "loaded" as const, loaded };
  const signal = AbortSignal.timeout(50_000);
  const checks: Record<string, Check> = {};
  for await (const check of examine({ setUp, cwd: folder, env: given, offline: true, signal })) {
    if (check.group === "docker") checks[check.name] = check;
  }
  return checks;
}

const key = { ANTHROPIC_API_KEY: "sk-ant-api03-the-real-key-of-somebody" };
const allChecks = [
  ...["engine", "engine limits", "image"],
  ...["credentials", "network", "doors", "rights", "limits"],
];

test("a container as it is by default holds nothing and lets nothing out", async () => {
  const checks = await examined(fleetFolder({}), { ...key, GITHUB_TOKEN: "ghp_of_the_fleet" });
  expect(Object.keys(checks)).toEqual(allChecks);
  for (const check of Object.values(checks))
    expect(check, check.name).toMatchObject({ verdict: "ok" });
});

test("with hosts opened by name, the proxy is tried too", async () => {
  const checks = await examined(fleetFolder({ docker: "egress: [npm]" }), key);
  expect(checks.doors).toMatchObject({ verdict: "ok", message: expect.stringContaining("proxy") });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("a secret of the fleet that lies where the container can read it is found", async () => {
  const files = { "work/notes/deploy.sh": "export GITHUB_TOKEN=ghp_of_the_fleet\n" };
  const { credentials } = await examined(fleetFolder({ files }), {
    ...key,
    GITHUB_TOKEN: "ghp_of_the_fleet",
  });
  expect(credentials).toMatchObject({
    verdict: "failed",
    agent: "one",
    message: "The container holds GITHUB_TOKEN in /workspace/notes/deploy.sh.",
  });
});

test("a key of the API is known as one, whoever it belongs to", async () => {
  const files = { "work/.env": "KEY=sk-ant-api03-which-nobody-told-us-about\n" };
  const { credentials } = await examined(fleetFolder({ files }), key);
  expect(credentials?.message).toContain("a credential of the API in /workspace/.env");
});

test("what the configuration gives the agent is no leak", async () => {
  const folder = fleetFolder({ docker: "env: { GITHUB_TOKEN: ghp_for_the_agent }" });
  const checks = await examined(folder, { ...key, GITHUB_TOKEN: "ghp_for_the_agent" });
  expect(checks.credentials).toMatchObject({ verdict: "ok" });
});

test("with `auth: env` it says that the container holds the credential", async () => {
  const checks = await examined(fleetFolder({ docker: "auth: env" }), key);
  expect(checks.credentials).toMatchObject({
    verdict: "warning",
    message: expect.stringContaining("auth: env"),
  });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("with `auth: mount` likewise, and the doors are as closed as ever", async () => {
  const login = ".claude/.credentials.json";
  const token = "sk-ant-oat01-of-somebody-who-has-signed-in";
  const folder = fleetFolder({
    docker: "auth: mount",
    agent: "runtime: cli",
    files: { [login]: JSON.stringify({ claudeAiOauth: { accessToken: token } }) },
  });
  chownSync(join(folder, login), insider.uid, insider.gid);
  const checks = await examined(folder);
  expect(checks.credentials).toMatchObject({
    verdict: "warning",
    message: expect.stringContaining("auth: mount"),
  });
  expect(checks.doors).toMatchObject({ verdict: "ok" });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("with a network of its own it says whom the container reached", async () => {
  const { network } = await examined(fleetFolder({ docker: "network: bridge" }), key);
  expect(network).toMatchObject({ verdict: "warning" });
  expect(network?.message).toContain("`network: bridge` lets it out");
  expect(network?.message).toMatch(/this machine by TCP [\d.]+/);
  expect(network?.message).toContain("this machine by UDP");
});

test("a socket in the workspace behind which somebody listens is a way out", async () => {
  const folder = fleetFolder({});
  const server = createServer((socket) => socket.resume());
  await new Promise<void>((done) => server.listen(join(folder, "work/open.sock"), done));
  onTestFinished(() => {
    server.close();
  });
  chownSync(join(folder, "work/open.sock"), insider.uid, insider.gid);
  const { network } = await examined(folder, key);
  expect(network).toMatchObject({
    verdict: "failed",
    message: "Something gets out: socket /workspace/open.sock.",
  });
});

test("an image that is missing, or not made for agents, is named with the remedy", async () => {
  const missing = await examined(fleetFolder({ docker: "image: herdctl-test/none:1" }), key);
  expect(missing.image).toMatchObject({
    verdict: "failed",
    hint: expect.stringContaining("herdctl docker build"),
  });
  expect(missing["self-test"]).toMatchObject({ verdict: "failed", agent: "one" });
  const foreign = await examined(fleetFolder({ docker: `image: "${base}"` }), key);
  expect(foreign.image).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("not an image that this herdctl can use"),
  });
});

test("without a key the container is tested all the same", async () => {
  const checks = await examined(fleetFolder({}));
  expect(checks.credentials).toMatchObject({ verdict: "ok" });
});

test("what keeps a job from starting keeps the self-test from it, and is told", async () => {
  const agent = "runtime: cli\n    credential: subscription";
  const checks = await examined(fleetFolder({ docker: "auth: mount", agent }), key);
  expect(checks["self-test"]).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("nobody is signed in"),
  });
});

test("no container and no folder of the test stays behind", async () => {
  const folder = fleetFolder({});
  await examined(folder, key);
  expect(readdirSync(join(folder, ".herdctl"))).not.toContainEqual(
    expect.stringMatching(/^self-test/),
  );
  expect(readdirSync(join(folder, "work"))).toEqual(["readme"]);
});

test("`herdctl doctor` shows each check and ends with 0 when all is well", async () => {
  const run = await herdctl(["doctor", "--offline"], {
    cwd: fleetFolder({}),
    env: { ...key, DOCKER_HOST: dockerHost },
  });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain(`✓ image  \`${image}\` carries`);
  expect(run.stdout).toContain("✓ one · network  Nothing gets out");
});

test("`herdctl doctor --json` ends with 1 when something is wrong", async () => {
  const run = await herdctl(["doctor", "one", "--json", "--offline"], {
    cwd: fleetFolder({}),
    env: { ...key, DOCKER_HOST: "unix:///no/such.sock" },
  });
  expect(run).toMatchObject({ code: 1, stderr: "" });
  const { ok, checks } = JSON.parse(run.stdout);
  expect(ok).toBe(false);
  expect(checks.filter(({ group }: Check) => group === "docker")).toMatchObject([
    { name: "engine", verdict: "failed", hint: expect.stringContaining("DOCKER_HOST") },
  ]);
});

test("outside a fleet engine and image are looked at, and a missing engine is no failure", async () => {
  const cwd = folderWith({});
  const args = ["doctor", "--json", "--offline"];
  const there = await herdctl(args, { cwd, env: { ...key, DOCKER_HOST: dockerHost } });
  expect(there.code).toBe(0);
  const inDocker = ({ group }: Check) => group === "docker";
  expect(JSON.parse(there.stdout).checks.filter(inDocker)).toHaveLength(3);
  const env = { ...key, DOCKER_HOST: "unix:///no/such.sock" };
  expect(await herdctl(args, { cwd, env })).toMatchObject({ code: 0 });
  const named = await herdctl(["doctor", "one"], { cwd, env });
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining("herdctl.yaml") });
});
