import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processesOf } from "./processes.mjs";
import { requestEngine } from "./request-engine.mjs";

const startTimeoutMs = 60_000;

/** A private containerd and dockerd: socket, data and state in one folder, no TCP. */
export class Daemon {
  #folder;
  #bridge;
  #children = {};

  constructor(folder, bridge) {
    this.#folder = folder;
    this.#bridge = bridge;
  }

  get socket() {
    return join(this.#folder, "docker.sock");
  }

  get dockerHost() {
    return `unix://${this.socket}`;
  }

  get dataFolder() {
    return join(this.#folder, "data");
  }

  async start() {
    const at = (name) => join(this.#folder, name);
    if (!isRunning(this.#children.containerd)) this.#startContainerd(at);
    // dockerd would take a stale PID file for a running engine.
    rmSync(at("docker.pid"), { force: true });
    writeFileSync(at("daemon.json"), "{}");
    this.#children.dockerd = this.#spawn("dockerd", [
      ...["--config-file", at("daemon.json"), "--pidfile", at("docker.pid")],
      ...["--host", this.dockerHost, "--containerd", at("containerd.sock")],
      ...["--data-root", this.dataFolder, "--exec-root", at("exec")],
      ...["--exec-opt", "native.cgroupdriver=cgroupfs", "--bridge", this.#bridge],
      ...["--iptables=false", "--ip-masq=false", "--ip-forward=false"],
    ]);
    await this.#waitUntilReady();
  }

  #startContainerd(at) {
    mkdirSync(at("containerd"), { recursive: true });
    writeFileSync(
      at("containerd.toml"),
      `version = 2
root = "${at("containerd/root")}"
state = "${at("containerd/state")}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "${at("containerd.sock")}"
[plugins."io.containerd.internal.v1.opt"]
path = "${at("containerd/opt")}"
`,
    );
    this.#children.containerd = this.#spawn("containerd", ["--config", at("containerd.toml")]);
  }

  #spawn(program, args) {
    const log = openSync(join(this.#folder, `${program}.log`), "a");
    // Detached, so that Ctrl-C reaches only this process, which then stops the engine.
    const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
    child.once("error", () => undefined);
    return child;
  }

  async #waitUntilReady() {
    const deadline = Date.now() + startTimeoutMs;
    while (Date.now() < deadline && Object.values(this.#children).every(isRunning)) {
      const response = await requestEngine(this.socket, "GET", "/_ping").catch(() => undefined);
      if (response?.status === 200) return;
      await pause(50);
    }
    throw new Error(`the Docker engine did not start:\n${this.#logTail()}`);
  }

  #logTail() {
    return ["containerd", "dockerd"]
      .map((name) => readFileSync(join(this.#folder, `${name}.log`), "utf8"))
      .flatMap((text) => text.trimEnd().split("\n").slice(-15))
      .join("\n");
  }

  /** Simulates a crash: containers and containerd keep running. */
  async kill() {
    await stopChild(this.#children.dockerd, "SIGKILL");
  }

  /** Stops everything and returns the containers that were left over. */
  async stop() {
    // A killed engine leaves its containers running, and only an engine can remove them.
    const { dockerd, containerd } = this.#children;
    if (isRunning(containerd) && !isRunning(dockerd)) await this.start().catch(() => undefined);
    const left = await this.#removeContainers().catch(() => []);
    for (const name of ["dockerd", "containerd"]) await stopChild(this.#children[name], "SIGTERM");
    // Remaining processes, such as the shim of a container, have the folder in their arguments.
    for (const pid of processesOf(this.#folder)) process.kill(pid, "SIGKILL");
    while (processesOf(this.#folder).length > 0) await pause(20);
    return left;
  }

  async #removeContainers() {
    const { body } = await requestEngine(this.socket, "GET", "/containers/json?all=1");
    const containers = JSON.parse(body);
    for (const { Id: id } of containers) {
      await requestEngine(this.socket, "DELETE", `/containers/${id}?force=1&v=1`);
    }
    return containers.map(({ Names: [name], Status: status }) => `${name} (${status})`);
  }
}

function isRunning(child) {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function stopChild(child, signal) {
  if (!isRunning(child)) return;
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.kill(signal);
  const killTimer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await closed;
  clearTimeout(killTimer);
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
