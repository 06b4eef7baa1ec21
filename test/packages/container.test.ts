import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { connectEngine } from "../../packages/core/src/runner/container/engine.ts";
import { checkout } from "../cli/herdctl.ts";
import { testEngine } from "../support/engine.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith, type WhenOver } from "../support/folder.ts";
import { installInto, nodeFolder, packAll, tarballsIn } from "./release.ts";

const { dockerHost, base } = await testEngine();
const engine = await connectEngine({ DOCKER_HOST: dockerHost });
type Container = ReturnType<typeof engine.getContainer>;
type ContainerSpec = Parameters<typeof engine.createContainer>[0];

const whenOver: WhenOver = (step) => afterAll(step, 300_000);
const [withNode, image] = ["herdctl-test/node:1", "herdctl-test/fleet:1"];
await makeImages();

const patience = 240_000;
const modelPort = 4010;

test("the demo runs in it, without a network and without root", { timeout: patience }, async () => {
  const container = await started({ Cmd: ["demo", "--json"] });
  const { StatusCode } = await container.wait();
  const output = await container.logs({ stdout: true, stderr: true });
  expect([StatusCode, output.toString()]).toEqual([0, expect.stringContaining('"completed"')]);
  const { Config } = await engine.getImage(image).inspect();
  expect(Config.User).toBe("1000:1000");
});

test("a fleet in it is healthy, works as an ordinary user, and ends well when the container is stopped", {
  timeout: patience,
}, async () => {
  const fleet = await startedFleet();
  const { container } = fleet;
  await until("health", async () => (await healthOf(container)) === "healthy", patience);
  expect(await inside(container, ["id", "-u"])).toBe("1000\n");

  const args = ["trigger", "hello", "-p", "Say hello.", "--wait", "--json"];
  const job = JSON.parse(await inside(container, ["herdctl", ...args]));
  expect(job).toMatchObject({ status: "completed", outcome: { code: "success" }, attempts: 1 });
  await container.stop({ t: 100 });
  expect((await container.inspect()).State.ExitCode).toBe(0);
});

async function healthOf(container: Container): Promise<string | undefined> {
  return (await container.inspect()).State.Health?.Status;
}

/** The model runs in the same container: it has no network. */
async function startedFleet(volumes = freshVolumes()) {
  const container = await started({
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
  const folder = folderWith({ "fleet/herdctl.yaml": fleetFile });
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

async function started(options: ContainerSpec): Promise<Container> {
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

async function inside(container: Container, Cmd: string[]): Promise<string> {
  const exec = await container.exec({ Cmd, Tty: true, AttachStdout: true });
  const output = await text(await exec.start({ Tty: true }));
  return output.replaceAll("\r\n", "\n");
}

/** As npm installs it here; nothing is fetched by the engine, which has no way out. */
async function makeImages(): Promise<void> {
  const node = folderWith(
    { Dockerfile: `FROM ${base}\nCOPY node /usr/local/bin/node\n` },
    whenOver,
  );
  copyFileSync(join(await nodeFolder("22.23.3"), "node"), join(node, "node"));
  await build(node, withNode, {});

  const folder = folderWith({ "package.json": "{}" }, whenOver);
  await installInto(folder, tarballsIn(await packAll(whenOver, "--only-packages")));
  copyFileSync(join(checkout, "image/fleet/Dockerfile"), join(folder, "Dockerfile"));
  await build(folder, image, { BASE: withNode });
}

async function build(context: string, t: string, buildargs: Record<string, string>): Promise<void> {
  whenOver(async () => {
    await engine.getImage(t).remove({ force: true });
  });
  const left = ["home", "npm-cache"].map((name) => `--exclude=./${name}`);
  const tar = spawn("tar", ["-C", context, ...left, "-c", "."], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answer = await text(await engine.buildImage(tar.stdout, { t, buildargs }));
  if (answer.includes('"errorDetail"')) throw new Error(`${t} was not built: ${answer}`);
}
