// The fleet of the screenshots: three days of past jobs, and agents that use a scripted model.
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { FleetManager } from "@herdctl/core/internal";
import { startRehearsal } from "@herdctl/rehearsal";
import { Authenticator, createApp, serveHttp } from "@herdctl/server";
import { seed } from "./seed.mjs";

const own = import.meta.dirname;
const project = resolve(own, "../../packages/cli/demo/project");

export async function startFleet() {
  const rehearsal = await startRehearsal({ script: join(own, "model.yaml") });
  const temp = mkdtempSync(join(tmpdir(), "herdctl-pictures-"));
  const folder = join(temp, "acme");
  mkdirSync(join(temp, "home"), { recursive: true });
  cpSync(project, join(folder, "project"), { recursive: true });
  cpSync(join(own, "herdctl.yaml"), join(folder, "herdctl.yaml"));
  appendFileSync(join(folder, "herdctl.yaml"), `server: { port: ${await freePort()} }\n`);
  const store = process.env.HERDCTL_STORE;
  if (store) appendFileSync(join(folder, "herdctl.yaml"), "store: ${HERDCTL_STORE}\n");
  await seed(join(folder, ".herdctl"), store);
  const env = {
    PATH: process.env.PATH,
    HOME: join(temp, "home"),
    IS_SANDBOX: "1",
    WEBHOOK_SECRET: "only for pictures",
    ...(store && { HERDCTL_STORE: store }),
    ...rehearsal.env(),
  };
  const file = join(folder, "herdctl.yaml");
  const fleet = new FleetManager({ file, env, node: { name: "desk", labels: ["eu"] } });
  await fleet.start();
  const others = store ? await startOthers(temp, file, env) : [];
  const access = new Authenticator(fleet);
  const server = await serveHttp(fleet, createApp(fleet, { authenticator: access }), access);
  return {
    fleet,
    jobs: await startJobs(fleet),
    link: () => access.createLoginLink("admin", "user:kim").url,
    stop: async () => {
      await server.stop();
      await fleet.stop({ drainMs: 0 });
      for (const other of others) await other.stop({ drainMs: 0 });
      await rehearsal.stop();
      rmSync(temp, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Starts further nodes of the fleet, and stops one of them. */
async function startOthers(temp, file, env) {
  const nodes = [
    { name: "rack", role: "worker", labels: ["gpu", "eu"], capacity: 4 },
    { name: "door", role: "control" },
    { name: "laptop", labels: ["mac"] },
  ].map((node) => {
    const copy = join(temp, node.name, "herdctl.yaml");
    mkdirSync(join(temp, node.name));
    cpSync(file, copy);
    return new FleetManager({ file: copy, env, node });
  });
  for (const node of nodes) await node.start();
  await nodes.at(-1).stop({ drainMs: 0 });
  return nodes;
}

/** Actions of people and programs for the audit log. */
async function fillAuditLog(fleet) {
  const kim = fleet.as({ identity: "user:kim", origin: "socket" });
  await kim.tokens.create({ name: "ci", scope: "trigger", agents: ["reporter"] });
  await kim.budget.raise({ usd: 10 });
  await kim.agents.pause("watcher");
  await kim.agents.resume("watcher");
  const ci = fleet.as({ identity: "token:ci", origin: "192.0.2.7" });
  await ci.jobs.trigger({ agent: "nobody" }).catch(() => undefined);
  const alice = fleet.as({ identity: "discord:alice#81234", origin: "discord" });
  const { job } = await alice.jobs.trigger({ agent: "reporter" });
  await alice.jobs.cancel(job.id);
  await fleet.access.recordFailedAuthentication({
    action: "token.use",
    origin: "198.51.100.23",
    error: "token_wrong",
  });
}

/** Starts jobs, and waits until each has reached the state to show. */
async function startJobs(fleet) {
  await fillAuditLog(fleet);
  const start = (agent, more) => fleet.jobs.trigger({ agent, ...more });
  const report = await start("reporter");
  const failing = await start("watcher");
  await fleet.jobs.wait(report.job.id);
  await fleet.jobs.wait(failing.job.id);
  const chat = await talk(fleet);
  await fleet.agents.pause("gardener");
  const review = await start("reviewer");
  const fix = await start("fixer");
  while ((await fleet.approvals.list()).length === 0) await pause(200);
  await pause(4_000);
  const ended = { done: report.job.id, failed: failing.job.id, chat };
  return { live: fix.job.id, asking: review.job.id, ...ended };
}

/** Two messages to one agent, in one session. */
async function talk(fleet) {
  const send = async (prompt, resume) => {
    const { job } = await fleet.jobs.trigger({
      conversation: true,
      agent: "reporter",
      prompt,
      resume,
    });
    return fleet.jobs.wait(job.id);
  };
  const first = await send("Which of our prices are tested, and which are not?");
  await send("Good. Then remind me on Friday to add the missing one.", first.session_id);
  return first.id;
}

function freePort() {
  return new Promise((found) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
