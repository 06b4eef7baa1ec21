import { chownSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { type Check, runDoctor } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerUser } from "../support/docker-harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const { dockerHost, image, base } = await sharedEngine();

interface DoctorFleetOptions {
  docker?: string;
  agent?: string;
  files?: Record<string, string>;
}

/** A fleet with one agent in a container. */
function fleetFolder({ docker = "", agent = "", files = {} }: DoctorFleetOptions): string {
  const folder = tempFolderWith({
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
  chownSync(join(folder, "work"), containerUser.uid, containerUser.gid);
  return folder;
}

/** The doctor's results by the name of each check. */
async function collectChecks(
  folder: string,
  env: Record<string, string> = {},
): Promise<Record<string, Check>> {
  const given = { PATH: process.env.PATH ?? "", HOME: folder, DOCKER_HOST: dockerHost, ...env };
  const loaded = loadFleet(join(folder, "herdctl.yaml"), given);
  const setUp = { kind: "loaded" as const, loaded };
  const signal = AbortSignal.timeout(50_000);
  const checks: Record<string, Check> = {};
  for await (const check of runDoctor({
    target: setUp,
    cwd: folder,
    env: given,
    offline: true,
    signal,
  })) {
    if (check.group === "docker") checks[check.name] = check;
  }
  return checks;
}

const key = { ANTHROPIC_API_KEY: "sk-ant-api03-the-real-key-of-somebody" };
const allChecks = [
  ...["engine", "engine limits", "engine disk", "image"],
  ...["credentials", "network", "proxies", "rights", "limits"],
];

test("finds no secret and no way out in a default container", async () => {
  const checks = await collectChecks(fleetFolder({}), { ...key, GITHUB_TOKEN: "ghp_of_the_fleet" });
  expect(Object.keys(checks)).toEqual(allChecks);
  for (const check of Object.values(checks))
    expect(check, check.name).toMatchObject({ verdict: "ok" });
});

test("tests the proxy when hosts are opened by name", async () => {
  const checks = await collectChecks(fleetFolder({ docker: "egress: [npm]" }), key);
  expect(checks.proxies).toMatchObject({
    verdict: "ok",
    message: expect.stringContaining("proxy"),
  });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("finds a secret of the fleet that the container can read", async () => {
  const files = { "work/notes/deploy.sh": "export GITHUB_TOKEN=ghp_of_the_fleet\n" };
  const { credentials } = await collectChecks(fleetFolder({ files }), {
    ...key,
    GITHUB_TOKEN: "ghp_of_the_fleet",
  });
  expect(credentials).toMatchObject({
    verdict: "failed",
    agent: "one",
    message: "The container contains GITHUB_TOKEN in /workspace/notes/deploy.sh.",
  });
});

test("recognizes any API key by its form", async () => {
  const files = { "work/.env": "KEY=sk-ant-api03-which-nobody-told-us-about\n" };
  const { credentials } = await collectChecks(fleetFolder({ files }), key);
  expect(credentials?.message).toContain("an API credential in /workspace/.env");
});

test("does not report values that the configuration gives the agent", async () => {
  const folder = fleetFolder({ docker: "env: { GITHUB_TOKEN: ghp_for_the_agent }" });
  const checks = await collectChecks(folder, { ...key, GITHUB_TOKEN: "ghp_for_the_agent" });
  expect(checks.credentials).toMatchObject({ verdict: "ok" });
});

test("reports that the container holds the credential with `auth: env`", async () => {
  const checks = await collectChecks(fleetFolder({ docker: "auth: env" }), key);
  expect(checks.credentials).toMatchObject({
    verdict: "warning",
    message: expect.stringContaining("auth: env"),
  });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("reports the same for `auth: mount`, with all other checks passing", async () => {
  const login = ".claude/.credentials.json";
  const token = "sk-ant-oat01-of-somebody-who-has-signed-in";
  const folder = fleetFolder({
    docker: "auth: mount",
    agent: "runtime: cli",
    files: { [login]: JSON.stringify({ claudeAiOauth: { accessToken: token } }) },
  });
  chownSync(join(folder, login), containerUser.uid, containerUser.gid);
  const checks = await collectChecks(folder);
  expect(checks.credentials).toMatchObject({
    verdict: "warning",
    message: expect.stringContaining("auth: mount"),
  });
  expect(checks.proxies).toMatchObject({ verdict: "ok" });
  expect(checks.network).toMatchObject({ verdict: "ok" });
});

test("lists what the container reached when it has a network", async () => {
  const { network } = await collectChecks(fleetFolder({ docker: "network: bridge" }), key);
  expect(network).toMatchObject({ verdict: "warning" });
  expect(network?.message).toContain("`network: bridge` gives it access");
  expect(network?.message).toMatch(/this machine by TCP [\d.]+/);
  expect(network?.message).toContain("this machine by UDP");
});

test("reports a listening socket in the workspace as a way out", async () => {
  const folder = fleetFolder({});
  const server = createServer((socket) => socket.resume());
  await new Promise<void>((done) => server.listen(join(folder, "work/open.sock"), done));
  onTestFinished(() => {
    server.close();
  });
  chownSync(join(folder, "work/open.sock"), containerUser.uid, containerUser.gid);
  const { network } = await collectChecks(folder, key);
  expect(network).toMatchObject({
    verdict: "failed",
    message: "The container has network access: socket /workspace/open.sock.",
  });
});

test("names a missing or unsuitable image with a hint", async () => {
  const missing = await collectChecks(fleetFolder({ docker: "image: herdctl-test/none:1" }), key);
  expect(missing.image).toMatchObject({
    verdict: "failed",
    hint: expect.stringContaining("herdctl docker build"),
  });
  expect(missing["self-test"]).toMatchObject({ verdict: "failed", agent: "one" });
  const foreign = await collectChecks(fleetFolder({ docker: `image: "${base}"` }), key);
  expect(foreign.image).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("not an image that this herdctl can use"),
  });
});

test("tests the container without a key as well", async () => {
  const checks = await collectChecks(fleetFolder({}));
  expect(checks.credentials).toMatchObject({ verdict: "ok" });
});

test("reports what prevents a job from starting and skips the self-test", async () => {
  const agent = "runtime: cli\n    credential: subscription";
  const checks = await collectChecks(fleetFolder({ docker: "auth: mount", agent }), key);
  expect(checks["self-test"]).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("no user is signed in"),
  });
});

test("leaves no container and no folder behind", async () => {
  const folder = fleetFolder({});
  await collectChecks(folder, key);
  expect(readdirSync(join(folder, ".herdctl"))).not.toContainEqual(
    expect.stringMatching(/^self-test/),
  );
  expect(readdirSync(join(folder, "work"))).toEqual(["readme"]);
});

test("shows each check in `herdctl doctor` and exits with 0 when all pass", async () => {
  const run = await runHerdctl(["doctor", "--offline"], {
    cwd: fleetFolder({}),
    env: { ...key, DOCKER_HOST: dockerHost },
  });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toContain(`✓ image  \`${image}\` contains`);
  expect(run.stdout).toContain("✓ one · network  No network access");
});

test("exits with 1 in `herdctl doctor --json` when a check fails", async () => {
  const run = await runHerdctl(["doctor", "one", "--json", "--offline"], {
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

test("checks engine and image outside a fleet, where a missing engine is not a failure", async () => {
  const cwd = tempFolderWith({});
  const args = ["doctor", "--json", "--offline"];
  const there = await runHerdctl(args, { cwd, env: { ...key, DOCKER_HOST: dockerHost } });
  expect(there.code).toBe(0);
  const inDocker = ({ group }: Check) => group === "docker";
  const names = JSON.parse(there.stdout)
    .checks.filter(inDocker)
    .map(({ name }: Check) => name);
  expect(names).toEqual(["engine", "engine limits", "engine disk", "image"]);
  const env = { ...key, DOCKER_HOST: "unix:///no/such.sock" };
  expect(await runHerdctl(args, { cwd, env })).toMatchObject({ code: 0 });
  const named = await runHerdctl(["doctor", "one"], { cwd, env });
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining("herdctl.yaml") });
});
