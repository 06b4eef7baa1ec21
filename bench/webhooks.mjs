// Signed webhooks per second that become durable jobs, compared with a server that only checks the signature.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { withFleet } from "./bench-fleet.mjs";
import { alternate, isQuick, timeOf } from "./measure.mjs";

const count = isQuick ? 200 : 1_000;
const senders = 16;
const secret = "the secret that both sides know";
const body = JSON.stringify({ action: "opened", issue: { title: "It is broken" } });
const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

const fleetFile = (port) => `version: 1
fleet: { name: bench, budget: { daily_jobs: 1000000 } }
server: { port: ${port} }
agents:
  - name: coder
    runtime: cli
    schedules:
      issues: { type: webhook, prompt: "{{payload.issue.title}}", rate_limit: 1000000, allowed_senders: { anyone: true }, signature: { kind: github, secret_env: SECRET } }
`;

export async function webhooks() {
  const port = await freePort();
  const bare = await startBareServer();
  const prepare = ({ folder }) => writeFileSync(join(folder, ".env"), `SECRET=${secret}\n`);
  try {
    return await withFleet({ fleetFile: fleetFile(port), prepare }, async ({ control }) => {
      // The jobs stay queued: only receiving is measured.
      await control.agents.pause("coder");
      const rates = await alternate(5, {
        bare: () => ratePerSecond(bare.url),
        fleet: () => ratePerSecond(`http://127.0.0.1:${port}/hooks/coder/issues`),
      });
      return {
        name: "signed webhooks per second",
        unit: "/s",
        values: rates.fleet,
        baseline: { name: "a bare server", values: rates.bare },
        bound: { min: 200 },
      };
    });
  } finally {
    bare.stop();
  }
}

async function ratePerSecond(url) {
  return (count * 1_000) / (await timeOf(() => sendAll(url)));
}

/** Concurrent senders, each of which waits for the response before it sends the next. */
async function sendAll(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: senders });
  let left = count;
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      const status = await post(url, agent);
      if (status !== 202) throw new Error(`a webhook was answered with status ${status}`);
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
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: "POST", headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

async function startBareServer() {
  const program = join(import.meta.dirname, "bare-webhook-server.mjs");
  const child = spawn(process.execPath, [program, secret], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  return { url, stop: () => child.kill() };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
