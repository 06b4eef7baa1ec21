import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { httpMcpServer } from "../support/mcp-http-servers.ts";
import { listProcesses } from "../support/process-list.ts";
import {
  executeOnRuntime,
  finalText,
  initOf,
  messagesOfType,
  type RuntimeUnderTest,
  resultOf,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
  workspaceInRuntime,
} from "../support/runtimes-under-test.ts";

const mcpServer = fileURLToPath(new URL("programs/mcp-server.mjs", import.meta.url));

/** What every runtime must do, wherever it runs. */
export function describeRuntimeConformance(runtime: RuntimeUnderTest): void {
  test("yields init first and result last in a text turn", async () => {
    const harness = await startHarness({ script: { rules: [{ reply: "Good morning." }] } });
    const { messages, exit } = await executeOnRuntime(runtime, harness);
    expect(messages[0]).toMatchObject({ type: "system", subtype: "init" });
    expect(messages.at(-1)).toMatchObject({ type: "result", subtype: "success", is_error: false });
    expect(finalText(messages)).toBe("Good morning.");
    expect(exit).toEqual({ code: 0, signal: null });
  });

  test("runs the tool of a tool turn", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(["Bash", { command: "echo made > made.txt" }]),
    });
    expect(readFileSync(join(harness.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(toolResultTexts(messages)).toHaveLength(1);
  });

  test("returns the result of each concurrent tool", async () => {
    const harness = await startObedientHarness();
    const commands = [1, 2, 3].map((n): [string, object] => [
      "Bash",
      { command: `echo number-${n}` },
    ]);
    const { messages } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(...commands),
    });
    expect(toolResultTexts(messages).sort().join()).toMatch(/number-1.*number-2.*number-3/);
  });

  test("connects MCP servers by process and by HTTP without their secrets in a process list", async () => {
    const harness = await startObedientHarness();
    const { url, headers } = await httpMcpServer();
    const [loudness, header] = [`loudness-${randomUUID()}`, `header-${randomUUID()}`];
    let processes = "";
    const agent = `
mcp_servers:
  echo: { command: node, args: ["${mcpServer}"], env: { LOUDNESS: ${loudness} } }
  quiet: { type: http, url: "${url}", headers: { Authorization: "Bearer ${header}" } }
`;
    const { messages } = await executeOnRuntime(runtime, harness, {
      agent,
      prompt: toolCallPrompt(
        ["mcp__echo__shout", { text: "hey" }],
        ["mcp__quiet__whisper", { text: "HEY" }],
      ),
      onMessage: () => {
        processes += listProcesses();
      },
    });
    const results = toolResultTexts(messages).join();
    expect(results).toContain(`HEY ${loudness}`);
    expect(results).toContain("hey by http");
    expect(headers.some((one) => one.authorization === `Bearer ${header}`)).toBe(true);
    // Proves that claude and this run's server were running at that time.
    const shown = [`--session-id=${initOf(messages)?.session_id}`, `node ${mcpServer}`];
    expect(shown.filter((one) => !processes.includes(one))).toEqual([]);
    expect([loudness, header].filter((one) => processes.includes(one))).toEqual([]);
  });

  test.each(["bypassPermissions", "acceptEdits", "dontAsk", "default", "plan"])(
    "denies denied tools in mode %s despite an allow rule",
    async (mode) => {
      const touches = async (denied: string) => {
        const harness = await startObedientHarness();
        await executeOnRuntime(runtime, harness, {
          agent: `permission_mode: ${mode}\nallowed_tools: ["Bash(touch:*)"]\ndenied_tools: ${denied}`,
          prompt: toolCallPrompt(["Bash", { command: "touch it" }]),
        });
        return existsSync(join(harness.workspace, "it"));
      };
      // In plan mode, no rule lets a tool change anything.
      expect(await touches("[]")).toBe(mode !== "plan");
      expect(await touches("[Bash]")).toBe(false);
    },
  );

  const modes: [mode: string, edits: boolean, touches: boolean][] = [
    ["bypassPermissions", true, true],
    ["acceptEdits", true, true],
    ["dontAsk", false, false],
    ["default", false, false],
    ["plan", false, false],
  ];
  test.each(modes)(
    "handles in mode %s edits as %s and commands as %s",
    async (mode, edits, touches) => {
      const harness = await startObedientHarness();
      const file = join(workspaceInRuntime(runtime, harness), "edited");
      const { messages } = await executeOnRuntime(runtime, harness, {
        agent: `permission_mode: ${mode}`,
        prompt: `${toolCallPrompt(["Write", { file_path: file, content: "x" }])}\n\n${toolCallPrompt(["Bash", { command: "mkfifo piped" }])}`,
      });
      expect(existsSync(join(harness.workspace, "edited"))).toBe(edits);
      const isDenied = (resultOf(messages)?.permission_denials ?? []).length > 0;
      if (mode !== "acceptEdits")
        expect(existsSync(join(harness.workspace, "piped"))).toBe(touches);
      if (mode === "dontAsk" || mode === "default") expect(isDenied).toBe(true);
      // The modes that refuse the same tools differ in what the model is told.
      expect(initOf(messages)?.permissionMode).toBe(mode);
      const refusals = toolResultTexts(messages).join();
      expect(refusals.includes("don't ask mode")).toBe(mode === "dontAsk");
      const requests = JSON.stringify(harness.rehearsal.ledger.main.map(({ body }) => body));
      expect(requests.includes("Plan mode is active")).toBe(mode === "plan");
    },
  );

  test("runs an allowed tool without asking", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeOnRuntime(runtime, harness, {
      agent: 'permission_mode: dontAsk\nallowed_tools: ["Bash(mkfifo:*)"]',
      prompt: `${toolCallPrompt(["Bash", { command: "mkfifo yes" }])}\n\n${toolCallPrompt(["Bash", { command: "touch no" }])}`,
    });
    expect(existsSync(join(harness.workspace, "yes"))).toBe(true);
    expect(existsSync(join(harness.workspace, "no"))).toBe(false);
    expect(resultOf(messages)?.permission_denials).toHaveLength(1);
  });

  test("asks a person for exactly this tool and input and applies the answer", async () => {
    for (const behavior of ["allow", "deny"] as const) {
      const harness = await startObedientHarness();
      const asked: unknown[] = [];
      await executeOnRuntime(runtime, harness, {
        agent: "permission_mode: default",
        prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
        options: {
          onPermission: async ({ tool, input }) => {
            asked.push([tool, input.command]);
            return behavior === "allow"
              ? { behavior, updatedInput: input }
              : { behavior, message: "No." };
          },
        },
      });
      expect(asked).toEqual([["Bash", "touch asked"]]);
      expect(existsSync(join(harness.workspace, "asked"))).toBe(behavior === "allow");
    }
  });

  test("passes system prompt, CLAUDE.md, model and environment", async () => {
    const harness = await startObedientHarness();
    writeFileSync(join(harness.workspace, "CLAUDE.md"), "The house rule is BLUE-LAMP.\n");
    const { messages } = await executeOnRuntime(runtime, harness, {
      agent: "model: claude-sonnet-4-5\nsystem_prompt: You are RED-CHAIR.",
      prompt: toolCallPrompt(["Bash", { command: "echo $GREETING" }]),
      env: { GREETING: "from-the-agent" },
    });
    const [request] = harness.rehearsal.ledger.main;
    expect(request?.model).toContain("sonnet");
    expect(JSON.stringify(request?.body)).toContain("BLUE-LAMP");
    expect(JSON.stringify(request?.body)).toContain("RED-CHAIR");
    expect(toolResultTexts(messages).join()).toContain("from-the-agent");
  });

  test("uses the fallback model when the first is overloaded", async () => {
    const harness = await startHarness({
      script: {
        rules: [
          { match: { model: "opus" }, fault: { status: 529 } },
          { match: { model: "sonnet" }, reply: "The second one here." },
        ],
      },
    });
    const { messages } = await executeOnRuntime(runtime, harness, {
      agent: "model: claude-opus-4-5\nfallback_model: claude-sonnet-4-5",
      env: { CLAUDE_CODE_MAX_RETRIES: "4" },
    });
    expect(finalText(messages)).toBe("The second one here.");
  });

  test("ends a run by max_turns and max_budget_usd", async () => {
    const endless = {
      rules: [
        { replies: [{ tools: [{ name: "Bash", input: { command: "true" } }] }], repeat: true },
      ],
    };
    const turns = await executeOnRuntime(runtime, await startHarness({ script: endless }), {
      agent: "max_turns: 2",
    });
    expect(resultOf(turns.messages)).toMatchObject({ subtype: "error_max_turns", is_error: true });
    const money = await executeOnRuntime(runtime, await startHarness({ script: endless }), {
      agent: "max_budget_usd: 0.01",
    });
    expect(resultOf(money.messages)).toMatchObject({ subtype: "error_max_budget_usd" });
  });

  test("resumes a session under its id and forks it under a new one", async () => {
    const harness = await startHarness({ script: { rules: [{ reply: "Noted." }] } });
    const sessionId = randomUUID();
    await executeOnRuntime(runtime, harness, {
      prompt: "remember ROSE",
      options: { session: { kind: "fresh", sessionId } },
    });
    const resumed = await executeOnRuntime(runtime, harness, {
      prompt: "again",
      options: { session: { kind: "resume", sessionId } },
    });
    expect(initOf(resumed.messages)?.session_id).toBe(sessionId);
    const branch = randomUUID();
    const forked = await executeOnRuntime(runtime, harness, {
      prompt: "aside",
      options: { session: { kind: "fork", from: sessionId, sessionId: branch } },
    });
    expect(initOf(forked.messages)?.session_id).toBe(branch);
    const last = harness.rehearsal.ledger.main.at(-1);
    expect(JSON.stringify(last?.body)).toContain("remember ROSE");
    expect(harness.rehearsal.ledger.main).toHaveLength(3);
  });

  test("reports a session that does not exist", async () => {
    const harness = await startObedientHarness();
    const { messages, stderr, exit } = await executeOnRuntime(runtime, harness, {
      options: { session: { kind: "resume", sessionId: randomUUID() } },
    });
    expect(JSON.stringify(messages) + stderr).toContain("No conversation found");
    expect(exit?.code).toBe(1);
    expect(harness.rehearsal.ledger.main).toHaveLength(0);
  });

  test("asks the agent to stop on abort, which ends its turn and exits", async () => {
    const harness = await startObedientHarness();
    const stopping = new AbortController();
    const began = Date.now();
    const { messages, exit } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]),
      options: { signal: stopping.signal },
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 300);
      },
    });
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(exit).toBeDefined();
    expect(resultOf(messages)?.subtype).not.toBe("success");
  });

  test("ends on an abort before the start", async () => {
    const harness = await startObedientHarness();
    const { exit } = await executeOnRuntime(runtime, harness, {
      options: { signal: AbortSignal.abort() },
    });
    expect(exit).toBeDefined();
  });

  test("yields several results with background work and ends after the last", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt([
        "Bash",
        { command: "sleep 1; echo BACKGROUND-DONE", run_in_background: true },
      ]),
    });
    const results = messagesOfType(messages, "result");
    expect(messages.at(-1)?.type).toBe("result");
    expect(results.length).toBeGreaterThanOrEqual(runtime.version === "325" ? 2 : 1);
  });

  test("streams 20 MB of tool output", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeOnRuntime(runtime, harness, {
      prompt: toolCallPrompt(["Bash", { command: "head -c 20000000 /dev/zero | tr '\\0' x" }]),
      env: { BASH_MAX_OUTPUT_LENGTH: "150000" },
    });
    expect(resultOf(messages)?.subtype).toBe("success");
  });

  test("passes a prompt of 1 MB", async () => {
    const harness = await startHarness({ script: { rules: [{ reply: "Read." }] } });
    const { messages } = await executeOnRuntime(runtime, harness, {
      prompt: `${"long ".repeat(200_000)}END-OF-PROMPT`,
    });
    expect(finalText(messages)).toBe("Read.");
    expect(JSON.stringify(harness.rehearsal.ledger.main[0]?.body)).toContain("END-OF-PROMPT");
  });

  test("yields partial text when requested", async () => {
    const harness = await startHarness({
      script: { rules: [{ reply: "Piece by piece by piece." }] },
    });
    const { messages } = await executeOnRuntime(runtime, harness, {
      options: { partialMessages: true },
    });
    expect(messagesOfType(messages, "stream_event").length).toBeGreaterThan(2);
  });
}
