// How fast messages go through the executor into the log, beside writing the same bytes at once.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobExecutor, loadFleet } from "@herdctl/core";
import { inTurns } from "./measure.mjs";

const amount = 10_000;

export async function messages() {
  const stateDir = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const all = Array.from({ length: amount }, (_, index) =>
    assistant(`message ${index} ${"x".repeat(200)}`),
  );
  try {
    const times = await inTurns(5, {
      ours: () => throughExecutor(stateDir, all),
      bare: () => {
        const began = performance.now();
        const lines = all.map((one) => JSON.stringify(one)).join("\n");
        writeFileSync(join(stateDir, "bare.jsonl"), lines);
        return performance.now() - began;
      },
    });
    const [ours, bare] = [times.ours, times.bare].map((all) => all.map(perSecond));
    const bound = { least: 10_000 };
    return { what: "messages to the log", beside: "one writeFile", unit: "/s", ours, bare, bound };
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

const perSecond = (milliseconds) => (amount * 1_000) / milliseconds;

let runs = 0;

export async function throughExecutor(stateDir, messages) {
  runs += 1;
  const runtime = {
    async *execute() {
      yield* messages;
      yield result;
    },
  };
  const environment = { ...process.env, ANTHROPIC_API_KEY: "made-up" };
  const began = performance.now();
  const report = await new JobExecutor(runtime, { stateDir, environment }).execute(
    order(`job-bench-${runs}`, stateDir),
    {},
    new AbortController().signal,
  );
  if (report.outcome.code !== "success") throw new Error(`the run ended as ${report.outcome.code}`);
  return performance.now() - began;
}

/** As the fleet gives it to a runner; the agent is one that the configuration made. */
function order(jobId, stateDir) {
  return {
    jobId,
    attempt: 1,
    agent: agentIn(stateDir),
    prompt: "",
    place: "cli",
    cwd: tmpdir(),
    session: { kind: "fresh", sessionId: "00000000-0000-4000-8000-000000000000" },
    configDir: tmpdir(),
    claude: { path: "claude", version: "0.0.0" },
    partialMessages: false,
  };
}

function agentIn(folder) {
  const file = join(folder, "herdctl.yaml");
  writeFileSync(
    file,
    "version: 1\nfleet: { name: bench }\nagents: [{ name: bench, runtime: cli }]\n",
  );
  return loadFleet(file, {}).fleet.agents[0];
}

export function assistant(text) {
  const message = { role: "assistant", content: [{ type: "text", text }] };
  return { type: "assistant", message, parent_tool_use_id: null, uuid: "u", session_id: "s" };
}

const result = {
  type: "result",
  subtype: "success",
  is_error: false,
  num_turns: 1,
  result: "done",
  total_cost_usd: 0,
  modelUsage: {},
  permission_denials: [],
};
