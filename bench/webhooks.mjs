// How many signed deliveries a second become durable jobs, beside a server that only looks at the signature.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inTurns, isQuick, timeOf } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const deliveries = isQuick ? 200 : 1_000;
const senders = 16;
const secret = "the secret that both know";
const body = JSON.stringify({ action: "opened", issue: { title: "It is broken" } });
const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

export async function webhooks() {
  const port = await freePort();
  const stage = await rehearsedFleet({ fleetFile: fleetFile(port) });
  writeFileSync(join(stage.folder, ".env"), `SECRET=${secret}\n`);
  const fleet = await startFleet(stage);
  const bare = await bareServer();
  try {
    // What is triggered waits: measured is the taking in.
    await fleet.control.pauseAgent("coder");
    const rate = (url) => async () => (deliveries * 1_000) / (await timeOf(() => deliver(url)));
    const times = await inTurns(5, {
      bare: rate(bare.url),
      ours: rate(`http://127.0.0.1:${port}/hooks/coder/issues`),
    });
    const what = "signed deliveries taken in";
    return { what, beside: "a bare server", unit: "/s", ...times, bound: { least: 200 } };
  } finally {
    bare.stop();
    await fleet.stop();
    await stage.dispose();
  }
}

const fleetFile = (port) => `version: 1
fleet: { name: bench, budget: { daily_jobs: 1000000 } }
server: { port: ${port} }
agents:
  - name: coder
    runtime: cli
    schedules:
      issues: { type: webhook, prompt: "{{payload.issue.title}}", rate_limit: 1000000, from: { anyone: true }, signature: { kind: github, secret_env: SECRET } }
`;

/** By so many senders at once, each of which waits for its answer. */
async function deliver(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: senders });
  let left = deliveries;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      const status = await post(url, agent);
      if (status !== 202) throw new Error(`a delivery got ${status}`);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  agent.destroy();
}

function post(url, agent) {
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": crypto.randomUUID(),
    "x-hub-signature-256": signature,
  };
  return new Promise((done, fail) => {
    const sent = request(url, { agent, method: "POST", headers }, (answer) => {
      answer.resume().once("end", () => done(answer.statusCode));
    });
    sent.once("error", fail);
    sent.end(body);
  });
}

async function bareServer() {
  const program = join(import.meta.dirname, "bare-hook.mjs");
  const child = spawn(process.execPath, [program, secret], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((found) =>
    createInterface({ input: child.stdout }).once("line", found),
  );
  return { url, stop: () => child.kill() };
}

function freePort() {
  return new Promise((found, fail) => {
    const server = createServer().once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
