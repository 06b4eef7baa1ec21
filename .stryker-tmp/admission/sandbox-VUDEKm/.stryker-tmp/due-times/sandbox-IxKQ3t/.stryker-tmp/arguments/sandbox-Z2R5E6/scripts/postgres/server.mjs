import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { run } from "../run-program.mjs";
import { postgresPrograms } from "./install.mjs";

/** Creates a private database server in a temp folder, on a free port of this machine. */
export async function createServerIn(durable) {
  const programs = await postgresPrograms();
  const folder = mkdtempSync(join(tmpdir(), "herdctl-postgres-"));
  const account = unprivilegedAccount(folder);
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(folder, "password");
  const data = join(folder, "data");
  writeFileSync(passwordFile, password, { mode: 0o644 });
  const access = ["--username=herdctl", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  const settings = ["--encoding=UTF8", "--locale=C", "--no-sync", `--pgdata=${data}`];
  await run(join(programs, "initdb"), [...access, ...settings], { ...account, cwd: folder });
  const port = await freePort();
  let server;
  const start = async () => {
    server = spawn(join(programs, "postgres"), argumentsOf({ data, folder, port, durable }), {
      ...account,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await waitUntilReady(server, { programs, port });
  };
  const end = async (signal) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((done) => server.once("exit", done));
    server.kill(signal);
    await exited;
  };
  return {
    address: `postgres://herdctl:${password}@127.0.0.1:${port}/postgres`,
    start,
    /** Closes all connections and shuts down cleanly. */
    stop: () => end("SIGINT"),
    /** Simulates a crash: the next start recovers from the log. */
    kill: () => end("SIGQUIT"),
    async remove() {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function argumentsOf({ data, folder, port, durable }) {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    port,
    max_connections: 200,
    shared_buffers: "64MB",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" }),
  };
  return [
    "-D",
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(folder) {
  if (process.getuid?.() !== 0) return {};
  const number = (flag) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  const account = { uid: number("-u"), gid: number("-g") };
  if (!(account.uid > 0)) throw new Error("there is no user `postgres` to run PostgreSQL as");
  chownSync(folder, account.uid, account.gid);
  for (let parent = dirname(folder); parent !== dirname(parent); parent = dirname(parent)) {
    const { mode } = statSync(parent);
    if ((mode & 0o001) === 0) chmodSync(parent, mode | 0o001);
  }
  return account;
}

async function waitUntilReady(server, { programs, port }) {
  let errorOutput = "";
  server.stderr.setEncoding("utf8").on("data", (text) => {
    errorOutput = `${errorOutput}${text}`.slice(-4_000);
  });
  const args = ["-q", "-h", "127.0.0.1", "-p", String(port)];
  const deadline = Date.now() + 60_000;
  while (spawnSync(join(programs, "pg_isready"), args).status !== 0) {
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start:\n${errorOutput}`);
    }
    await delay(50);
  }
}

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}
