import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectEngine, imageInfo } from "../../packages/core/src/runner/container/engine.ts";
import { herdctl, herdctlInTerminal } from "../cli/herdctl.ts";
import { testEngine } from "../support/engine.ts";
import { folderWith } from "../support/folder.ts";

const { dockerHost, image, base } = await testEngine();
const engine = await connectEngine({ DOCKER_HOST: dockerHost });
const env = { DOCKER_HOST: dockerHost };

/** The name of an image of this test alone. */
function ownTag(name: string): string {
  const tag = `herdctl-test/${name}:1`;
  onTestFinished(async () => {
    await engine
      .getImage(tag)
      .remove()
      .catch(() => undefined);
  });
  return tag;
}

function build(args: string[], files: Record<string, string> = {}, more = env) {
  return herdctl(["docker", "build", ...args], { cwd: folderWith(files), env: more });
}

test("builds the image upon the base that is named, and says what it made", async () => {
  const run = await build(["--base", base, "--json"]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const present = await imageInfo(engine, image);
  const id = present.kind === "present" ? present.id : "";
  expect(JSON.parse(run.stdout)).toEqual({
    image,
    id,
    claude: image.split(":")[1],
    seconds: expect.any(Number),
  });
});

test("shows each step, also where nothing can be drawn over", async () => {
  const run = await build(["--base", base]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toMatch(/^1\/\d+ ARG BASE/);
  expect(run.stdout).toContain(`✓ ${image} Claude Code ${image.split(":")[1]}`);
});

test("on a terminal the present step stands below those that are done", async () => {
  const args = ["docker", "build", "--base", base];
  const run = await herdctlInTerminal(args, { cwd: folderWith({}), env, keys: [] });
  expect(run.code).toBe(0);
  expect(run.screen).toContain("sending claude to the engine");
  expect(run.screen).toContain(image);
});

test("another name and another Dockerfile; what we tell of an image stands on it all the same", async () => {
  const tag = ownTag("own");
  const Dockerfile =
    "ARG BASE\nFROM ${BASE}\nCOPY claude herdctl-launch /usr/local/bin/\nLABEL mine=1\n";
  const args = ["--base", base, "--tag", tag, "--file", "sub/Dockerfile", "--json"];
  const run = await build(args, { "sub/Dockerfile": Dockerfile });
  expect(JSON.parse(run.stdout)).toMatchObject({ image: tag });
  expect(await imageInfo(engine, tag)).toMatchObject({
    labels: { mine: "1", "herdctl.image": "1", "herdctl.claude": image.split(":")[1] },
  });
});

test("a base that is neither here nor to be had is named, with the remedy", async () => {
  const run = await build(["--base", "herdctl-test/no-such-base:1"]);
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/base image `herdctl-test\/no-such-base:1` is not on this machine/);
  expect(run.stderr).toContain("--base");
});

test("a step that fails is told with its last lines", async () => {
  const Dockerfile = `FROM ${base}\nRUN (echo first; seq 1 50; echo the reason) >&2; exit 3\n`;
  const run = await build(["--tag", ownTag("broken"), "--file", "Dockerfile"], { Dockerfile });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/The step `RUN \(echo first.*` failed: .*code: 3/);
  expect(run.stderr).toContain("\n  the reason\n");
  expect(run.stderr).toContain("\n  50\n");
  expect(run.stderr).not.toContain("first\n  1\n");
  expect(await imageInfo(engine, "herdctl-test/broken:1")).toEqual({ kind: "missing" });
});

test("a Dockerfile that cannot be read or understood says so", async () => {
  const missing = await build(["--file", "Dockerfile"]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("Dockerfile") });
  const wrong = await build(["--file", "Dockerfile"], { Dockerfile: "FRM nothing\n" });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("FRM") });
});

test("with --json a failure is one JSON object", async () => {
  const run = await build(["--base", "herdctl-test/no-such-base:1", "--json"]);
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toMatchObject({
    errors: [{ code: "image_missing", hint: expect.any(String) }],
  });
});

const engines: [title: string, host: string, code: number, told: RegExp][] = [
  ["that is not there", "unix:///no/such.sock", 4, /cannot be reached: there is no such socket/],
  ["of another machine", "tcp://192.0.2.1:2375", 2, /not a socket of this machine: tcp:/],
  ["by ssh", "ssh://somebody@192.0.2.1", 2, /not a socket of this machine: ssh:/],
];

test.each(engines)("an engine %s is a clear error", async (_, host, code, told) => {
  const run = await build([], {}, { DOCKER_HOST: host });
  expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(told) });
});

test("an engine that says nothing is not waited for without end", async () => {
  const folder = folderWith({});
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(join(folder, "silent.sock"), done));
  onTestFinished(() => {
    silent.close();
  });
  const host = `unix://${join(folder, "silent.sock")}`;
  const run = await build([], {}, { DOCKER_HOST: host });
  expect(run).toMatchObject({ code: 4, stderr: expect.stringMatching(/it does not answer/) });
});
