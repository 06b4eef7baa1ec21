import { chmodSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectEngine } from "../../packages/core/src/docker/engine.ts";
import {
  formatLaunchLine,
  type LaunchCommand,
} from "../../packages/core/src/runner/containers/container-process.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { runContainer } from "./run-container.ts";

const { dockerHost, image } = await sharedEngine();
const engine = await connectEngine({ DOCKER_HOST: dockerHost });

/** The strictest configuration of an agent's container. */
const sealedSpec = {
  Image: image,
  User: "4711:4712",
  HostConfig: {
    ...{ Init: true, ReadonlyRootfs: true, NetworkMode: "none" },
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    Tmpfs: { "/tmp": "mode=1777", "/home/agent": "mode=1777" },
  },
};

function launch(launch: Partial<LaunchCommand>, rest = "", spec = {}) {
  const line = formatLaunchLine({
    cwd: "/workspace",
    env: {},
    program: "true",
    args: [],
    ...launch,
  });
  return runContainer(engine, { ...sealedSpec, ...spec }, line + rest);
}

test("runs the claude of the Agent SDK for a user that the image does not contain", async () => {
  const run = await launch({ program: "claude", args: ["--version"] });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout).toMatch(new RegExp(`^${image.split(":")[1]} `));
});

test("contains the tools that agents work with", async () => {
  for (const program of ["git", "rg", "curl", "socat"]) {
    const flag = program === "socat" ? "-V" : "--version";
    expect(await launch({ program, args: [flag] }), program).toMatchObject({ code: 0 });
  }
});

test("passes arguments, variables, folder and the rest of standard input to a program", async () => {
  const rest = `\n two\n${"x".repeat(300_000)}`;
  const script = 'printf "%s|%s|%s|" "$1" "$VALUE" "$PWD"; exec cat';
  const run = await launch(
    {
      cwd: "/tmp",
      env: { VALUE: "ä\n'" },
      program: "sh",
      args: ["-c", script, "sh", "a b\\c"],
    },
    rest,
  );
  expect(run).toEqual({ code: 0, stdout: `a b\\c|ä\n'|/tmp|${rest}`, stderr: "" });
});

test("makes the home writable and nothing else of the root", async () => {
  const script = "cd && touch mine && echo $HOME; touch /workspace/not 2>&1; touch /usr/not 2>&1";
  const run = await launch({ program: "sh", args: ["-c", script] });
  expect(run.stdout).toMatch(/^\/home\/agent\n(.*Read-only file system\n){2}$/);
});

test("runs a proxy on loopback when a gateway's socket is given", async () => {
  const folder = tempFolderWith({});
  mkdirSync(join(folder, "run"));
  const server = createServer((request, response) => response.end(`asked for ${request.url}`));
  const socket = join(folder, "run/gateway.sock");
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  chmodSync(socket, 0o777);
  for (const path of [folder, join(folder, "run")]) chmodSync(path, 0o755);
  const HostConfig = { ...sealedSpec.HostConfig, Binds: [`${join(folder, "run")}:/run/herdctl`] };
  const variable = { HERDCTL_PROXY_SOCKET: "/run/herdctl/gateway.sock" };
  const asked = {
    program: "curl",
    args: ["-s", "-x", "http://127.0.0.1:3128", "http://some.host/page"],
  };
  const expected = { code: 0, stdout: "asked for http://some.host/page", stderr: "" };
  expect(await launch({ ...asked, env: variable }, "", { HostConfig })).toEqual(expected);
  // A container that starts before its job is known gets the variable in its description.
  const Env = Object.entries(variable).map(([name, value]) => `${name}=${value}`);
  expect(await launch(asked, "", { HostConfig, Env })).toEqual(expected);
});

test("keeps arguments and variables of a run out of the container's description", async () => {
  const container = await engine.createContainer({ ...sealedSpec });
  onTestFinished(() => container.remove());
  const { Config: config, Path: path, Args: args } = await container.inspect();
  expect([path, ...args]).toEqual(["/usr/local/bin/herdctl-launch"]);
  expect(config.Env).toEqual([expect.stringMatching(/^PATH=/), "HOME=/home/agent"]);
});
