import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type ExecuteOptions,
  eventsOf,
  type JobEvent,
  JobExecutor,
  type RunOrder,
  type RuntimeInterface,
  readOutput,
  type SDKMessage,
} from "@herdctl/core";
import { expect, test } from "vitest";
import { agentFor, stateDirOf } from "../support/job.ts";
import { type Stage, stage } from "../support/stage.ts";

type Spoken = { type: string } & Record<string, unknown>;

/** A runtime of our own, which says what it is told to say and then does what it is told to do. */
function runtimeThatSays(messages: Spoken[], then: () => void = () => undefined): RuntimeInterface {
  return {
    async *execute({ session }: ExecuteOptions) {
      // The edge: a newer Claude Code says what the types of today do not know.
      for (const message of messages)
        yield { session_id: session.sessionId, ...message } as unknown as SDKMessage;
      then();
    },
  };
}

const init = { type: "system", subtype: "init", model: "m", claude_code_version: "9.9.9" };
const words = { type: "assistant", parent_tool_use_id: null };
const result = {
  type: "result",
  subtype: "success",
  is_error: false,
  result: "All is well.",
  num_turns: 1,
  total_cost_usd: 0.5,
};
const unknown = [
  { type: "weather_report", sky: "green" },
  { type: "system", subtype: "moon_phase", phase: "full" },
  { type: "result_preview", is_error: true, subtype: "error_max_turns" },
];

function orderFor(on: Stage): RunOrder {
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  mkdirSync(join(stateDirOf(on), "jobs", jobId), { recursive: true });
  return {
    jobId,
    attempt: 1,
    agent: agentFor(on),
    prompt: "hello",
    place: "sdk",
    cwd: on.workspace,
    session: { kind: "fresh", sessionId: randomUUID() },
    configDir: on.configDir,
    claude: { path: "/nowhere/claude", version: "9.9.9" },
    partialMessages: false,
  };
}

async function execute(on: Stage, runtime: RuntimeInterface, signal: AbortSignal) {
  const order = orderFor(on);
  const events: JobEvent[] = [];
  const onMessage = (message: SDKMessage) => events.push(...eventsOf(message));
  const executor = new JobExecutor(runtime, { stateDir: stateDirOf(on), environment: on.env });
  const report = await executor.execute(order, { onMessage }, signal);
  const log: unknown[] = [];
  const file = join(stateDirOf(on), "jobs", order.jobId, "output.jsonl");
  for await (const { message } of readOutput(file)) log.push(message);
  return { report, events, log };
}

test("the executor runs any runtime, and keeps what it does not know without being misled by it", async () => {
  const on = await stage();
  const speech = {
    ...words,
    message: { content: [{ type: "hologram" }, { type: "text", text: "Hm." }] },
  };
  const said = [init, ...unknown, speech, result, ...unknown];
  const run = await execute(on, runtimeThatSays(said), new AbortController().signal);
  expect(run.log).toEqual(said.map((message) => expect.objectContaining(message)));
  expect(run.events.filter((event) => event.kind === "other")).toEqual(
    [...unknown, ...unknown].map(({ type, subtype }) => ({
      kind: "other",
      type: type === "system" ? `system/${subtype}` : type,
    })),
  );
  expect(run.report).toMatchObject({
    outcome: { code: "success" },
    summary: "All is well.",
    cost_usd: 0.5,
    claude_version: "9.9.9",
  });
});

test("what trails behind the last word does not open it to a late abort", async () => {
  const stopping = new AbortController();
  const runtime = runtimeThatSays([init, result, ...unknown], () => stopping.abort());
  const { report } = await execute(await stage(), runtime, stopping.signal);
  expect(report.outcome.code).toBe("success");
});

test("unknown messages alone make no success", async () => {
  const run = await execute(await stage(), runtimeThatSays(unknown), new AbortController().signal);
  expect(run.report.outcome.code).toBe("interrupted");
  expect(run.log).toHaveLength(unknown.length);
});
