// How long a person waits for each command, with a fleet up, beside Node's own start.
import { spawn } from "node:child_process";
import { bareNode, inTurns } from "./measure.mjs";
import { herdctl, startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

/** All that end by themselves and may be called again and again. */
const calls = (job) => [
  "--help",
  "config check",
  "config show",
  "config schema",
  "status",
  "status hello",
  "jobs",
  `job ${job}`,
  `chain ${job}`,
  `logs ${job}`,
  `artifacts ${job}`,
  "memory hello",
  "sessions",
  "schedules",
  "schedules history",
  "budget",
  "approvals",
  "deliveries",
  "hooks",
  "chat status",
  "token",
  "open --print",
  "pause hello",
  "resume hello",
  "reload",
  "mcp",
];

export async function commands() {
  const stage = await rehearsedFleet();
  const fleet = await startFleet(stage);
  try {
    const { job } = await fleet.control.trigger({ trigger: "manual", agent: "hello" });
    await fleet.control.wait(job.id);
    const works = calls(job.id).map((call) => [call, () => run(call.split(" "), stage)]);
    const { node, ...times } = await inTurns(7, { node: bareNode, ...Object.fromEntries(works) });
    return Object.entries(times).map(([call, ours]) => ({
      what: `herdctl ${call.replace(job.id, "JOB")}`,
      beside: "node -e 0",
      ours,
      bare: node,
      bound: call === "--help" ? { ratio: 2 } : undefined,
    }));
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

function run(args, { folder, env }) {
  const began = performance.now();
  const child = spawn(process.execPath, [herdctl, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done(performance.now() - began);
      else fail(new Error(`herdctl ${args.join(" ")} ended with ${code}: ${said}`));
    });
  });
}
