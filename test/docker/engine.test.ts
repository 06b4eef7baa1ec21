import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectEngine, imageInfo } from "../../packages/core/src/runner/container/engine.ts";
import { engineAddress } from "../../packages/core/src/runner/container/engine-address.ts";
import { ownEngine, testEngine } from "../support/engine.ts";
import { folderWith } from "../support/folder.ts";

const { dockerHost, image } = await testEngine();

test("the image says which claude it carries and by which rules it is launched", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await imageInfo(engine, image)).toMatchObject({
    kind: "present",
    labels: { "herdctl.image": "1", "herdctl.claude": image.split(":")[1] },
  });
});

test("an image that is not there is missing, not an error", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await imageInfo(engine, "herdctl/no-such-image")).toEqual({ kind: "missing" });
});

test("the engine that is named is asked, whatever this process has for itself", async () => {
  const before = process.env.DOCKER_HOST;
  process.env.DOCKER_HOST = "tcp://192.0.2.1:2375";
  try {
    const engine = await connectEngine({ DOCKER_HOST: dockerHost });
    expect(await engine.version()).toMatchObject({ Os: "linux" });
  } finally {
    if (before === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = before;
  }
});

test("an engine that was killed is unavailable, and found again when it is back", async () => {
  const own = await ownEngine();
  const env = { DOCKER_HOST: own.dockerHost };
  await own.kill();
  await expect(connectEngine(env)).rejects.toMatchObject({
    code: "docker_unavailable",
    message: expect.stringContaining("nothing listens there"),
  });
  await own.start();
  expect(await imageInfo(await connectEngine(env), own.image)).toMatchObject({ kind: "present" });
});

/** A home with the files that the `docker` command keeps its contexts in. */
function homeWith(contexts: Record<string, string>, current?: string): string {
  const files = Object.entries(contexts).map(([name, host]) => {
    const folder = createHash("sha256").update(name).digest("hex");
    const meta = { Name: name, Metadata: {}, Endpoints: { docker: { Host: host } } };
    return [`.docker/contexts/meta/${folder}/meta.json`, JSON.stringify(meta)] as const;
  });
  const config = { ".docker/config.json": JSON.stringify({ currentContext: current }) };
  return folderWith({ ...Object.fromEntries(files), ...config });
}

test("without a word from anybody it is the usual socket", () => {
  const usual = { socketPath: "/var/run/docker.sock", source: "the default" };
  expect(engineAddress({ HOME: folderWith({}) })).toEqual(usual);
  expect(engineAddress({ HOME: homeWith({}) })).toEqual(usual);
  expect(engineAddress({ HOME: homeWith({}, "default") })).toEqual(usual);
});

test("a context is followed as the docker command does, and DOCKER_HOST goes before it", () => {
  const contexts = { rootless: "unix:///run/user/1/docker.sock", far: "ssh://u@192.0.2.1" };
  const HOME = homeWith(contexts, "rootless");
  const chosen = { socketPath: "/run/user/1/docker.sock", source: "the Docker context `rootless`" };
  expect(engineAddress({ HOME })).toEqual(chosen);
  expect(engineAddress({ HOME: "/", DOCKER_CONFIG: join(HOME, ".docker") })).toEqual(chosen);
  expect(() => engineAddress({ HOME, DOCKER_CONTEXT: "far" })).toThrow(
    "not a socket of this machine",
  );
  expect(engineAddress({ HOME, DOCKER_HOST: "unix:///own.sock" })).toMatchObject({
    socketPath: "/own.sock",
  });
});

test("a context that is not there is named", () => {
  expect(() => engineAddress({ HOME: homeWith({}, "gone") })).toThrow("context `gone`");
});
