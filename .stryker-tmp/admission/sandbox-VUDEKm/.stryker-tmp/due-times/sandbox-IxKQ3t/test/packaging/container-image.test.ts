import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { connectEngine } from "../../packages/core/src/docker/engine.ts";
import { checkout } from "../cli/run-herdctl.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { type RegisterCleanup, tempFolderWith } from "../support/temp-folder.ts";
import { installInto, nodeBinFolder, packAll, tarballsIn } from "./npm-packages.ts";

const { dockerHost, base } = await sharedEngine();
const engine = await connectEngine({ DOCKER_HOST: dockerHost });
type Container = ReturnType<typeof engine.getContainer>;
type ContainerSpec = Parameters<typeof engine.createContainer>[0];

const onCleanup: RegisterCleanup = (step) => afterAll(step, 300_000);
const [withNode, image] = ["herdctl-test/node:1", "herdctl-test/fleet:1"];
await makeImages();

const testTimeoutMs = 240_000;
const modelPort = 4010;

test("runs the demo without a network and without root", {
  timeout: testTimeoutMs,
}, async () => {
  const container = await startContainer({ Cmd: ["demo", "--json"] });
  const { StatusCode } = await container.wait();
  const output = await container.logs({ stdout: true, stderr: true });
  expect([StatusCode, output.toString()]).toEqual([0, expect.stringContaining('"completed"')]);
  const { Config } = await engine.getImage(image).inspect();
  expect(Config.User).toBe("1000:1000");
});

test("runs a healthy fleet as an ordinary user that stops cleanly with the container", {
  timeout: testTimeoutMs,
}, async () => {
  const fleet = await startFleetContainer();
  const { container } = fleet;
  await waitUntil("health", async () => (await healthOf(container)) === "healthy", testTimeoutMs);
  expect(await execInContainer(container, ["id", "-u"])).toBe("1000\n");

  const args = ["trigger", "hello", "-p", "Say hello.", "--wait", "--json"];
  const job = JSON.parse(await execInContainer(container, ["herdctl", ...args]));
  expect(job).toMatchObject({ status: "completed", outcome: { code: "success" }, attempts: 1 });
  await container.stop({ t: 100 });
  expect((await container.inspect()).State.ExitCode).toBe(0);
});

async function healthOf(container: Container): Promise<string | undefined> {
  return (await container.inspect()).State.Health?.Status;
}

/** The model runs in the same container, which has no network. */
async function startFleetContainer(volumes = freshVolumes()) {
  const container = await startContainer({
    Env: ["ANTHROPIC_API_KEY=made-up", `ANTHROPIC_BASE_URL=http://127.0.0.1:${modelPort}`],
    Healthcheck: { Interval: 1e9 },
    HostConfig: { Binds: [`${volumes.fleet}:/fleet`, `${volumes.home}:/home/herd`] },
  });
  const model = ["herdctl", "rehearse", "--port", String(modelPort), "--json"];
  const exec = await container.exec({ Cmd: model });
  await exec.start({ Detach: true });
  return { container, ...volumes };
}

function freshVolumes(): { fleet: string; home: string } {
  const folder = tempFolderWith({ "fleet/herdctl.yaml": fleetFile });
  const [fleet, home] = [join(folder, "fleet"), join(folder, "home")];
  mkdirSync(home);
  for (const path of [fleet, home]) chmodSync(path, 0o777);
  return { fleet, home };
}

const fleetFile = `version: 1
fleet: { name: contained }
agents:
  - name: hello
    permission_mode: plan
`;

async function startContainer(options: ContainerSpec): Promise<Container> {
  const container = await engine.createContainer({
    Image: image,
    ...options,
    HostConfig: { NetworkMode: "none", Init: true, ...options.HostConfig },
  });
  onTestFinished(async () => {
    await container.remove({ force: true, v: true });
  });
  await container.start();
  return container;
}

async function execInContainer(container: Container, Cmd: string[]): Promise<string> {
  const exec = await container.exec({ Cmd, Tty: true, AttachStdout: true });
  const output = await text(await exec.start({ Tty: true }));
  return output.replaceAll("\r\n", "\n");
}

/** Installed by npm outside the engine, which has no network. */
async function makeImages(): Promise<void> {
  const node = tempFolderWith(
    { Dockerfile: `FROM ${base}\nCOPY node /usr/local/bin/node\n` },
    onCleanup,
  );
  copyFileSync(join(await nodeBinFolder("22.23.3"), "node"), join(node, "node"));
  await build(node, withNode, {});

  const folder = tempFolderWith({ "package.json": "{}" }, onCleanup);
  await installInto(folder, tarballsIn(await packAll(onCleanup, "--only-packages")));
  copyFileSync(join(checkout, "image/fleet/Dockerfile"), join(folder, "Dockerfile"));
  await build(folder, image, { BASE: withNode });
}

async function build(context: string, t: string, buildargs: Record<string, string>): Promise<void> {
  onCleanup(async () => {
    await engine.getImage(t).remove({ force: true });
  });
  const left = ["home", "npm-cache"].map((name) => `--exclude=./${name}`);
  const tar = spawn("tar", ["-C", context, ...left, "-c", "."], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answer = await text(await engine.buildImage(tar.stdout, { t, buildargs }));
  if (answer.includes('"errorDetail"')) throw new Error(`${t} was not built: ${answer}`);
}
