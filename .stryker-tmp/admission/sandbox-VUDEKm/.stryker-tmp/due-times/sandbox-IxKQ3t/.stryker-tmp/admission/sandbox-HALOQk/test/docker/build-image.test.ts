import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectEngine, readImageInfo } from "../../packages/core/src/docker/engine.ts";
import { runHerdctl, runHerdctlInTerminal } from "../cli/run-herdctl.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const { dockerHost, image, base } = await sharedEngine();
const engine = await connectEngine({ DOCKER_HOST: dockerHost });
const env = { DOCKER_HOST: dockerHost };

/** An image name that only this test uses. */
function uniqueTag(name: string): string {
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
  return runHerdctl(["docker", "build", ...args], { cwd: tempFolderWith(files), env: more });
}

test("builds the image on the given base and prints what it built", async () => {
  const run = await build(["--base", base, "--json"]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const present = await readImageInfo(engine, image);
  const id = present.kind === "present" ? present.id : "";
  expect(JSON.parse(run.stdout)).toEqual({
    image,
    id,
    claude: image.split(":")[1],
    seconds: expect.any(Number),
  });
});

test("prints each step without a terminal", async () => {
  const run = await build(["--base", base]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toMatch(/^1\/\d+ ARG BASE/);
  expect(run.stdout).toContain(`✓ ${image} Claude Code ${image.split(":")[1]}`);
});

test("shows the current step below the finished ones on a terminal", async () => {
  const args = ["docker", "build", "--base", base];
  const run = await runHerdctlInTerminal(args, { cwd: tempFolderWith({}), env, keys: [] });
  expect(run.code).toBe(0);
  expect(run.screen).toContain("Sending the build context");
  expect(run.screen).toContain(image);
});

test("accepts another name and another Dockerfile and still adds the labels", async () => {
  const tag = uniqueTag("own");
  const Dockerfile =
    "ARG BASE\nFROM ${BASE}\nCOPY claude herdctl-launch /usr/local/bin/\nLABEL mine=1\n";
  const args = ["--base", base, "--tag", tag, "--file", "sub/Dockerfile", "--json"];
  const run = await build(args, { "sub/Dockerfile": Dockerfile });
  expect(JSON.parse(run.stdout)).toMatchObject({ image: tag });
  expect(await readImageInfo(engine, tag)).toMatchObject({
    labels: { mine: "1", "herdctl.image": "1", "herdctl.claude": image.split(":")[1] },
  });
});

test("names a base image that cannot be pulled, with a hint", async () => {
  const run = await build(["--base", "herdctl-test/no-such-base:1"]);
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/base image `herdctl-test\/no-such-base:1` is not on this machine/);
  expect(run.stderr).toContain("--base");
});

test("prints the last lines of a failed step", async () => {
  const Dockerfile = `FROM ${base}\nRUN (echo first; seq 1 50; echo the reason) >&2; exit 3\n`;
  const run = await build(["--tag", uniqueTag("broken"), "--file", "Dockerfile"], { Dockerfile });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/The step `RUN \(echo first.*` failed: .*code: 3/);
  expect(run.stderr).toContain("\n  the reason\n");
  expect(run.stderr).toContain("\n  50\n");
  expect(run.stderr).not.toContain("first\n  1\n");
  expect(await readImageInfo(engine, "herdctl-test/broken:1")).toEqual({ kind: "missing" });
});

test("reports a Dockerfile that cannot be read or parsed", async () => {
  const missing = await build(["--file", "Dockerfile"]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("Dockerfile") });
  const wrong = await build(["--file", "Dockerfile"], { Dockerfile: "FRM nothing\n" });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("FRM") });
});

test("prints one JSON object for a failure with --json", async () => {
  const run = await build(["--base", "herdctl-test/no-such-base:1", "--json"]);
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toMatchObject({
    errors: [{ code: "image_missing", hint: expect.any(String) }],
  });
});

const brokenEngines: [title: string, host: string, code: number, message: RegExp][] = [
  ["that does not exist", "unix:///no/such.sock", 4, /cannot be reached: there is no such socket/],
  ["of another machine", "tcp://192.0.2.1:2375", 2, /not a socket of this machine: tcp:/],
  ["over ssh", "ssh://somebody@192.0.2.1", 2, /not a socket of this machine: ssh:/],
];

test.each(brokenEngines)("reports an engine %s", async (_, host, code, message) => {
  const run = await build([], {}, { DOCKER_HOST: host });
  expect(run).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(message) });
});

test("stops waiting for an unresponsive engine", async () => {
  const folder = tempFolderWith({});
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(join(folder, "silent.sock"), done));
  onTestFinished(() => {
    silent.close();
  });
  const host = `unix://${join(folder, "silent.sock")}`;
  const run = await build([], {}, { DOCKER_HOST: host });
  expect(run).toMatchObject({ code: 4, stderr: expect.stringMatching(/it does not answer/) });
});
