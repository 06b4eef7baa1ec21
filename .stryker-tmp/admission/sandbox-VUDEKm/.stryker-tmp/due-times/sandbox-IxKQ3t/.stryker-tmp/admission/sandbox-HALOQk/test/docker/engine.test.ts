import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectEngine, readImageInfo } from "../../packages/core/src/docker/engine.ts";
import { engineAddress } from "../../packages/core/src/docker/engine-address.ts";
import { sharedEngine, startPrivateEngine } from "../support/docker-engine.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const { dockerHost, image } = await sharedEngine();

test("reads the claude version and the launch protocol from the image's labels", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await readImageInfo(engine, image)).toMatchObject({
    kind: "present",
    labels: { "herdctl.image": "1", "herdctl.claude": image.split(":")[1] },
  });
});

test("reports an absent image as missing, not as an error", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await readImageInfo(engine, "herdctl/no-such-image")).toEqual({ kind: "missing" });
});

test("asks the named engine, whatever this process has configured", async () => {
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

test("reports a killed engine as unavailable and finds it again when it is back", async () => {
  const own = await startPrivateEngine();
  const env = { DOCKER_HOST: own.dockerHost };
  await own.kill();
  await expect(connectEngine(env)).rejects.toMatchObject({
    code: "docker_unavailable",
    message: expect.stringContaining("no engine is listening"),
  });
  await own.start();
  expect(await readImageInfo(await connectEngine(env), own.image)).toMatchObject({
    kind: "present",
  });
});

/** A home with the context files of the `docker` command. */
function homeWith(contexts: Record<string, string>, current?: string): string {
  const files = Object.entries(contexts).map(([name, host]) => {
    const folder = createHash("sha256").update(name).digest("hex");
    const meta = { Name: name, Metadata: {}, Endpoints: { docker: { Host: host } } };
    return [`.docker/contexts/meta/${folder}/meta.json`, JSON.stringify(meta)] as const;
  });
  const config = { ".docker/config.json": JSON.stringify({ currentContext: current }) };
  return tempFolderWith({ ...Object.fromEntries(files), ...config });
}

test("uses the default socket without any configuration", () => {
  const usual = { socketPath: "/var/run/docker.sock", source: "the default" };
  expect(engineAddress({ HOME: tempFolderWith({}) })).toEqual(usual);
  expect(engineAddress({ HOME: homeWith({}) })).toEqual(usual);
  expect(engineAddress({ HOME: homeWith({}, "default") })).toEqual(usual);
});

test("follows a context as the docker command does, with DOCKER_HOST taking precedence", () => {
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

test("names a context that does not exist", () => {
  expect(() => engineAddress({ HOME: homeWith({}, "gone") })).toThrow("context `gone`");
});
