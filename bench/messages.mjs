// Messages per second through the executor into the log of a job, compared with one write of the same bytes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { JobExecutor } from "@herdctl/core/internal";
import { alternate, timeOf } from "./measure.mjs";

const count = 10_000;

export async function messages() {
  const stateDir = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const all = Array.from({ length: count }, (_, index) =>
    assistant(`message ${index} ${"x".repeat(200)}`),
  );
  const agent = loadAgent(stateDir);
  let jobs = 0;
  try {
    const rates = await alternate(5, {
      log: () => {
        jobs += 1;
        return ratePerSecond(() => execute(all, { jobId: `job-bench-${jobs}`, stateDir, agent }));
      },
      file: () =>
        ratePerSecond(() => {
          const lines = all.map((message) => JSON.stringify(message)).join("\n");
          writeFileSync(join(stateDir, "bare.jsonl"), lines);
        }),
    });
    return {
      name: "messages to the log per second",
      unit: "/s",
      values: rates.log,
      baseline: { name: "one writeFile", values: rates.file },
      bound: { min: 10_000 },
    };
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function ratePerSecond(work) {
  return (count * 1_000) / (await timeOf(work));
}

async function execute(messages, { jobId, stateDir, agent }) {
  const runtime = {
    async *execute() {
      yield* messages;
      yield result;
    },
  };
  const environment = { ...process.env, ANTHROPIC_API_KEY: "made-up" };
  const { outcome } = await new JobExecutor(runtime, { stateDir, environment }).execute(
    {
      jobId,
      attempt: 1,
      agent,
      prompt: "",
      place: "cli",
      cwd: tmpdir(),
      session: { kind: "fresh", sessionId: "00000000-0000-4000-8000-000000000000" },
      configDir: tmpdir(),
      claude: { path: "claude", version: "0.0.0" },
      partialMessages: false,
    },
    {},
    new AbortController().signal,
  );
  if (outcome.code !== "success") throw new Error(`the run ended as ${outcome.code}`);
}

function loadAgent(folder) {
  const file = join(folder, "herdctl.yaml");
  writeFileSync(
    file,
    "version: 1\nfleet: { name: bench }\nagents: [{ name: bench, runtime: cli }]\n",
  );
  return loadFleet(file, {}).fleet.agents[0];
}

function assistant(text) {
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
