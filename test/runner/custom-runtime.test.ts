import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type ExecuteOptions,
  JobExecutor,
  type RunOrder,
  type RuntimeInterface,
  readOutput,
  type SDKMessage,
} from "@herdctl/core/internal";
import { type JobEvent, toJobEvents } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { loadAgent, stateDirOf } from "../support/run-job.ts";

type RuntimeMessage = { type: string } & Record<string, unknown>;

/** A runtime that yields these messages and then runs a callback. */
function runtimeYielding(
  messages: RuntimeMessage[],
  afterMessages: () => void = () => undefined,
): RuntimeInterface {
  return {
    async *execute({ session }: ExecuteOptions) {
      // Cast because a newer Claude Code sends messages that today's types do not describe.
      for (const message of messages)
        yield { session_id: session.sessionId, ...message } as unknown as SDKMessage;
      afterMessages();
    },
  };
}

const init = { type: "system", subtype: "init", model: "m", claude_code_version: "9.9.9" };
const assistantBase = { type: "assistant", parent_tool_use_id: null };
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

function runOrder(harness: TestHarness): RunOrder {
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  mkdirSync(join(stateDirOf(harness), "jobs", jobId), { recursive: true });
  return {
    jobId,
    attempt: 1,
    agent: loadAgent(harness),
    prompt: "hello",
    place: "sdk",
    cwd: harness.workspace,
    session: { kind: "fresh", sessionId: randomUUID() },
    configDir: harness.configDir,
    claude: { path: "/nowhere/claude", version: "9.9.9" },
    partialMessages: false,
  };
}

async function execute(harness: TestHarness, runtime: RuntimeInterface, signal: AbortSignal) {
  const order = runOrder(harness);
  const events: JobEvent[] = [];
  const onMessage = (message: SDKMessage) => events.push(...toJobEvents(message));
  const executor = new JobExecutor(runtime, {
    stateDir: stateDirOf(harness),
    environment: harness.env,
  });
  const report = await executor.execute(order, { onMessage }, signal);
  const log: unknown[] = [];
  const file = join(stateDirOf(harness), "jobs", order.jobId, "output.jsonl");
  for await (const { message } of readOutput(file)) log.push(message);
  return { report, events, log };
}

test("runs any runtime and keeps unknown messages without being misled by them", async () => {
  const harness = await startHarness();
  const speech = {
    ...assistantBase,
    message: { content: [{ type: "hologram" }, { type: "text", text: "Hm." }] },
  };
  const messages = [init, ...unknown, speech, result, ...unknown];
  const run = await execute(harness, runtimeYielding(messages), new AbortController().signal);
  expect(run.log).toEqual(messages.map((message) => expect.objectContaining(message)));
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

test("ignores a late abort after the final message, whatever follows it", async () => {
  const stopping = new AbortController();
  const runtime = runtimeYielding([init, result, ...unknown], () => stopping.abort());
  const { report } = await execute(await startHarness(), runtime, stopping.signal);
  expect(report.outcome.code).toBe("success");
});

test("does not count unknown messages as success", async () => {
  const run = await execute(
    await startHarness(),
    runtimeYielding(unknown),
    new AbortController().signal,
  );
  expect(run.report.outcome.code).toBe("interrupted");
  expect(run.log).toHaveLength(unknown.length);
});

test("takes the session id from init, also if the runtime does not use the proposed one", async () => {
  const sessionId = randomUUID();
  const messages = [{ ...init, session_id: sessionId }, result];
  const run = await execute(
    await startHarness(),
    runtimeYielding(messages),
    new AbortController().signal,
  );
  expect(run.report).toMatchObject({ session_id: sessionId, session_opened: true });
});
