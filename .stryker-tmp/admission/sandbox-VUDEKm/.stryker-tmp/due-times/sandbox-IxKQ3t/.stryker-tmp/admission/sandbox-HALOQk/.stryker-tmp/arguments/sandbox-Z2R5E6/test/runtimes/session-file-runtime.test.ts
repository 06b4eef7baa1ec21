import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { listProcesses } from "../support/process-list.ts";
import {
  executeOnRuntime,
  finalText,
  initOf,
  resultOf,
  sessionFileRuntimes,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

describe.each(sessionFileRuntimes)("$name", (runtime) => {
  test("reads a tool turn from the file alone", async () => {
    const harness = await startObedientHarness();
    const { messages, exit } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(["Bash", { command: "echo from-the-file" }]),
    });
    expect(initOf(messages)).toMatchObject({ herdctl_synthesised: true });
    expect(toolResultTexts(messages).join()).toContain("from-the-file");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
    expect(exit?.code).toBe(0);
    const cost = resultOf(messages)?.total_cost_usd;
    if (runtime.version === "325") expect(cost).toBeGreaterThan(0);
    else expect(cost).toBeUndefined();
  });

  test("passes the system prompt to the model but to no process list", async () => {
    const harness = await startObedientHarness();
    const secret = `RED-CHAIR-${randomUUID()}`;
    let processes = "";
    const { messages } = await executeOnRuntime(runtime, harness, {
      agent: `system_prompt: You are ${secret}.`,
      prompt: toolCallPrompt(["Bash", { command: "sleep 0.3" }]),
      onMessage: () => {
        processes += listProcesses();
      },
    });
    expect(JSON.stringify(harness.rehearsal.ledger.main[0]?.body)).toContain(secret);
    expect(processes.includes(`--session-id=${initOf(messages)?.session_id}`)).toBe(true);
    expect(processes.includes(secret)).toBe(false);
  });

  test("yields only the new messages of a resumed session", async () => {
    const harness = await startHarness({
      script: { rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }] },
    });
    const sessionId = randomUUID();
    await executeOnRuntime(runtime, harness, {
      prompt: "first",
      options: { session: { kind: "fresh", sessionId } },
    });
    const again = await executeOnRuntime(runtime, harness, {
      prompt: "second",
      options: { session: { kind: "resume", sessionId } },
    });
    expect(finalText(again.messages)).toBe("Two.");
    expect(JSON.stringify(again.messages)).not.toContain("One.");
    const branch = randomUUID();
    const fork = await executeOnRuntime(runtime, harness, {
      prompt: "second",
      options: { session: { kind: "fork", from: sessionId, sessionId: branch } },
    });
    expect(initOf(fork.messages)?.session_id).toBe(branch);
    expect(JSON.stringify(fork.messages)).not.toContain("One.");
  });

  test("does not treat an API error as success", async () => {
    const harness = await startHarness({
      script: { rules: [{ fault: { status: 400, message: "no such thing" } }] },
    });
    const { messages } = await executeOnRuntime(runtime, harness, {});
    expect(resultOf(messages)).toMatchObject({ is_error: true });
  });

  test("ends on abort", async () => {
    const harness = await startObedientHarness();
    const stopping = new AbortController();
    const { exit } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]),
      options: { signal: stopping.signal },
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 200);
      },
    });
    expect(exit).toBeDefined();
  });
});
