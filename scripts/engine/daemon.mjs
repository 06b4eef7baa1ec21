import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "./ask.mjs";
import { processesOf } from "./processes.mjs";

const patience = 60_000;

/** containerd and dockerd, both ours alone: own socket, data and state below one folder, no TCP. */
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
    // A stale one would be taken for a running engine.
    rmSync(at("docker.pid"), { force: true });
    writeFileSync(at("daemon.json"), "{}");
    this.#children.dockerd = this.#spawn("dockerd", [
      ...["--config-file", at("daemon.json"), "--pidfile", at("docker.pid")],
      ...["--host", this.dockerHost, "--containerd", at("containerd.sock")],
      ...["--data-root", this.dataFolder, "--exec-root", at("exec")],
      ...["--exec-opt", "native.cgroupdriver=cgroupfs", "--bridge", this.#bridge],
      ...["--iptables=false", "--ip-masq=false", "--ip-forward=false"],
    ]);
    await this.#answers();
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
    // A session of its own: Ctrl-C is for us, and we end the engine in good order.
    const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log] });
    closeSync(log);
    child.once("error", () => undefined);
    return child;
  }

  async #answers() {
    const deadline = Date.now() + patience;
    while (Date.now() < deadline && Object.values(this.#children).every(isRunning)) {
      const answer = await ask(this.socket, "GET", "/_ping").catch(() => undefined);
      if (answer?.status === 200) return;
      await pause(50);
    }
    throw new Error(`the Docker engine did not come up:\n${this.#lastWords()}`);
  }

  #lastWords() {
    return ["containerd", "dockerd"]
      .map((name) => readFileSync(join(this.#folder, `${name}.log`), "utf8"))
      .flatMap((text) => text.trimEnd().split("\n").slice(-15))
      .join("\n");
  }

  /** As a crash would: containers and containerd stay. */
  async kill() {
    await end(this.#children.dockerd, "SIGKILL");
  }

  /** Everything goes, and what was still there is named. */
  async stop() {
    // One that was killed left its containers at work; only an engine can end them.
    const { dockerd, containerd } = this.#children;
    if (isRunning(containerd) && !isRunning(dockerd)) await this.start().catch(() => undefined);
    const left = await this.#removeContainers().catch(() => []);
    for (const name of ["dockerd", "containerd"]) await end(this.#children[name], "SIGTERM");
    // What outlived them, such as the shim of a container, names our folder too.
    for (const pid of processesOf(this.#folder)) process.kill(pid, "SIGKILL");
    while (processesOf(this.#folder).length > 0) await pause(20);
    return left;
  }

  async #removeContainers() {
    const { body } = await ask(this.socket, "GET", "/containers/json?all=1");
    const containers = JSON.parse(body);
    for (const { Id: id } of containers) {
      await ask(this.socket, "DELETE", `/containers/${id}?force=1&v=1`);
    }
    return containers.map(({ Names: [name], Status: status }) => `${name} (${status})`);
  }
}

function isRunning(child) {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function end(child, signal) {
  if (!isRunning(child)) return;
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill(signal);
  const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await gone;
  clearTimeout(late);
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
