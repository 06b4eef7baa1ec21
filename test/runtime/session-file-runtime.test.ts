import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { processList } from "../support/process-list.ts";
import {
  finalText,
  initOf,
  obedientStage,
  obey,
  perform,
  resultOf,
  sessionFileRuntimes,
  toolResults,
} from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

describe.each(sessionFileRuntimes)("$name", (runtime) => {
  test("a tool turn, from the file alone", async () => {
    const on = await obedientStage();
    const { messages, exit } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "echo from-the-file" }]),
    });
    expect(initOf(messages)).toMatchObject({ herdctl_synthesised: true });
    expect(toolResults(messages).join()).toContain("from-the-file");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
    expect(exit?.code).toBe(0);
    const cost = resultOf(messages)?.total_cost_usd;
    if (runtime.version === "325") expect(cost).toBeGreaterThan(0);
    else expect(cost).toBeUndefined();
  });

  test("the system prompt reaches the model, but no process list", async () => {
    const on = await obedientStage();
    const secret = `RED-CHAIR-${randomUUID()}`;
    let processes = "";
    const { messages } = await perform(runtime, on, {
      agent: `system_prompt: You are ${secret}.`,
      prompt: obey(["Bash", { command: "sleep 0.3" }]),
      onMessage: () => {
        processes += processList();
      },
    });
    expect(JSON.stringify(on.rehearsal.ledger.main[0]?.body)).toContain(secret);
    expect(processes.includes(`--session-id=${initOf(messages)?.session_id}`)).toBe(true);
    expect(processes.includes(secret)).toBe(false);
  });

  test("a resumed session yields what is new, and only that", async () => {
    const on = await stage({
      script: { rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }] },
    });
    const sessionId = randomUUID();
    await perform(runtime, on, {
      prompt: "first",
      options: { session: { kind: "fresh", sessionId } },
    });
    const again = await perform(runtime, on, {
      prompt: "second",
      options: { session: { kind: "resume", sessionId } },
    });
    expect(finalText(again.messages)).toBe("Two.");
    expect(JSON.stringify(again.messages)).not.toContain("One.");
    const branch = randomUUID();
    const fork = await perform(runtime, on, {
      prompt: "second",
      options: { session: { kind: "fork", from: sessionId, sessionId: branch } },
    });
    expect(initOf(fork.messages)?.session_id).toBe(branch);
    expect(JSON.stringify(fork.messages)).not.toContain("One.");
  });

  test("an API error is no success", async () => {
    const on = await stage({
      script: { rules: [{ fault: { status: 400, message: "no such thing" } }] },
    });
    const { messages } = await perform(runtime, on, {});
    expect(resultOf(messages)).toMatchObject({ is_error: true });
  });

  test("aborting ends it", async () => {
    const on = await obedientStage();
    const stopping = new AbortController();
    const { exit } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "tail -f /dev/null" }]),
      options: { signal: stopping.signal },
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 200);
      },
    });
    expect(exit).toBeDefined();
  });
});
