import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { httpMcpServer } from "../support/mcp-http.ts";
import { processList } from "../support/process-list.ts";
import {
  finalText,
  initOf,
  obedientStage,
  obey,
  ofType,
  perform,
  type RuntimeUnderTest,
  resultOf,
  seenWorkspace,
  toolResults,
} from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const mcpServer = fileURLToPath(new URL("programs/mcp-server.mjs", import.meta.url));

/** What every runtime does, wherever it runs. */
export function conformance(runtime: RuntimeUnderTest): void {
  test("a text turn: init first, result last, then the end", async () => {
    const on = await stage({ script: { rules: [{ reply: "Good morning." }] } });
    const { messages, exit } = await perform(runtime, on);
    expect(messages[0]).toMatchObject({ type: "system", subtype: "init" });
    expect(messages.at(-1)).toMatchObject({ type: "result", subtype: "success", is_error: false });
    expect(finalText(messages)).toBe("Good morning.");
    expect(exit).toEqual({ code: 0, signal: null });
  });

  test("a tool turn really runs the tool", async () => {
    const on = await obedientStage();
    const { messages } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "echo made > made.txt" }]),
    });
    expect(readFileSync(join(on.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(toolResults(messages)).toHaveLength(1);
  });

  test("several tools at once each get their result", async () => {
    const on = await obedientStage();
    const commands = [1, 2, 3].map((n): [string, object] => [
      "Bash",
      { command: `echo number-${n}` },
    ]);
    const { messages } = await perform(runtime, on, { prompt: obey(...commands) });
    expect(toolResults(messages).sort().join()).toMatch(/number-1.*number-2.*number-3/);
  });

  test("a subagent's messages say whose they are", async () => {
    const on = await stage({
      script: {
        rules: [
          { match: { from: "subagent" }, reply: "I am the subagent." },
          {
            match: { prompt: "delegate" },
            replies: [
              {
                tools: [
                  {
                    name: "Agent",
                    input: {
                      description: "look",
                      prompt: "look around",
                      subagent_type: "general-purpose",
                      run_in_background: false,
                    },
                  },
                ],
              },
              "It is back.",
            ],
          },
        ],
      },
    });
    const { messages } = await perform(runtime, on, { prompt: "delegate" });
    expect(finalText(messages)).toBe("It is back.");
    expect(toolResults(messages).join()).toContain("I am the subagent.");
  });

  test("MCP servers by process and by HTTP, with their secrets in no process list", async () => {
    const on = await obedientStage();
    const { url, headers } = await httpMcpServer();
    const [loudness, header] = [`loudness-${randomUUID()}`, `header-${randomUUID()}`];
    let processes = "";
    const agent = `
mcp_servers:
  echo: { command: node, args: ["${mcpServer}"], env: { LOUDNESS: ${loudness} } }
  quiet: { type: http, url: "${url}", headers: { Authorization: "Bearer ${header}" } }
`;
    const { messages } = await perform(runtime, on, {
      agent,
      prompt: obey(["mcp__echo__shout", { text: "hey" }], ["mcp__quiet__whisper", { text: "HEY" }]),
      onMessage: () => {
        processes += processList();
      },
    });
    const results = toolResults(messages).join();
    expect(results).toContain(`HEY ${loudness}`);
    expect(results).toContain("hey by http");
    expect(headers.some((one) => one.authorization === `Bearer ${header}`)).toBe(true);
    // Both claude and the server of this run were there to be looked at.
    const shown = [`--session-id=${initOf(messages)?.session_id}`, `node ${mcpServer}`];
    expect(shown.filter((one) => !processes.includes(one))).toEqual([]);
    expect([loudness, header].filter((one) => processes.includes(one))).toEqual([]);
  });

  test.each(["bypassPermissions", "acceptEdits", "dontAsk", "default", "plan"])(
    "denied means denied, in mode %s, though a rule allows it",
    async (mode) => {
      const touches = async (denied: string) => {
        const on = await obedientStage();
        await perform(runtime, on, {
          agent: `permission_mode: ${mode}\nallowed_tools: ["Bash(touch:*)"]\ndenied_tools: ${denied}`,
          prompt: obey(["Bash", { command: "touch it" }]),
        });
        return existsSync(join(on.workspace, "it"));
      };
      expect(await touches("[]")).toBe(true);
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
  test.each(modes)("mode %s: edits %s, commands %s", async (mode, edits, touches) => {
    const on = await obedientStage();
    const file = join(seenWorkspace(runtime, on), "edited");
    const { messages } = await perform(runtime, on, {
      agent: `permission_mode: ${mode}`,
      prompt: `${obey(["Write", { file_path: file, content: "x" }])}\n\n${obey(["Bash", { command: "mkfifo piped" }])}`,
    });
    expect(existsSync(join(on.workspace, "edited"))).toBe(edits);
    const isDenied = (resultOf(messages)?.permission_denials ?? []).length > 0;
    if (mode !== "acceptEdits") expect(existsSync(join(on.workspace, "piped"))).toBe(touches);
    if (mode === "dontAsk" || mode === "default") expect(isDenied).toBe(true);
  });

  test("an allowed tool needs no permission", async () => {
    const on = await obedientStage();
    const { messages } = await perform(runtime, on, {
      agent: 'permission_mode: dontAsk\nallowed_tools: ["Bash(mkfifo:*)"]',
      prompt: `${obey(["Bash", { command: "mkfifo yes" }])}\n\n${obey(["Bash", { command: "touch no" }])}`,
    });
    expect(existsSync(join(on.workspace, "yes"))).toBe(true);
    expect(existsSync(join(on.workspace, "no"))).toBe(false);
    expect(resultOf(messages)?.permission_denials).toHaveLength(1);
  });

  test("a person is asked for exactly this tool and input, and the answer counts", async () => {
    for (const behavior of ["allow", "deny"] as const) {
      const on = await obedientStage();
      const asked: unknown[] = [];
      await perform(runtime, on, {
        agent: "permission_mode: default",
        prompt: obey(["Bash", { command: "touch asked" }]),
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
      expect(existsSync(join(on.workspace, "asked"))).toBe(behavior === "allow");
    }
  });

  test("system prompt, CLAUDE.md, model and environment reach their place", async () => {
    const on = await obedientStage();
    writeFileSync(join(on.workspace, "CLAUDE.md"), "The house rule is BLUE-LAMP.\n");
    const { messages } = await perform(runtime, on, {
      agent: "model: claude-sonnet-4-5\nsystem_prompt: You are RED-CHAIR.",
      prompt: obey(["Bash", { command: "echo $GREETING" }]),
      env: { GREETING: "from-the-agent" },
    });
    const [request] = on.rehearsal.ledger.main;
    expect(request?.model).toContain("sonnet");
    expect(JSON.stringify(request?.body)).toContain("BLUE-LAMP");
    expect(JSON.stringify(request?.body)).toContain("RED-CHAIR");
    expect(toolResults(messages).join()).toContain("from-the-agent");
  });

  test("the fallback model answers when the first is overloaded", async () => {
    const on = await stage({
      script: {
        rules: [
          { match: { model: "opus" }, fault: { status: 529 } },
          { match: { model: "sonnet" }, reply: "The second one here." },
        ],
      },
    });
    const { messages } = await perform(runtime, on, {
      agent: "model: claude-opus-4-5\nfallback_model: claude-sonnet-4-5",
      env: { CLAUDE_CODE_MAX_RETRIES: "4" },
    });
    expect(finalText(messages)).toBe("The second one here.");
  });

  test("max_turns and max_budget_usd end a run that would go on", async () => {
    const endless = {
      rules: [
        { replies: [{ tools: [{ name: "Bash", input: { command: "true" } }] }], repeat: true },
      ],
    };
    const turns = await perform(runtime, await stage({ script: endless }), {
      agent: "max_turns: 2",
    });
    expect(resultOf(turns.messages)).toMatchObject({ subtype: "error_max_turns", is_error: true });
    const money = await perform(runtime, await stage({ script: endless }), {
      agent: "max_budget_usd: 0.01",
    });
    expect(resultOf(money.messages)).toMatchObject({ subtype: "error_max_budget_usd" });
  });

  test("a session is resumed under its id and forked under a new one", async () => {
    const on = await stage({ script: { rules: [{ reply: "Noted." }] } });
    const sessionId = randomUUID();
    await perform(runtime, on, {
      prompt: "remember ROSE",
      options: { session: { kind: "fresh", sessionId } },
    });
    const resumed = await perform(runtime, on, {
      prompt: "again",
      options: { session: { kind: "resume", sessionId } },
    });
    expect(initOf(resumed.messages)?.session_id).toBe(sessionId);
    const branch = randomUUID();
    const forked = await perform(runtime, on, {
      prompt: "aside",
      options: { session: { kind: "fork", from: sessionId, sessionId: branch } },
    });
    expect(initOf(forked.messages)?.session_id).toBe(branch);
    const last = on.rehearsal.ledger.main.at(-1);
    expect(JSON.stringify(last?.body)).toContain("remember ROSE");
    expect(on.rehearsal.ledger.main).toHaveLength(3);
  });

  test("a session that does not exist is told as such", async () => {
    const on = await obedientStage();
    const { messages, stderr, exit } = await perform(runtime, on, {
      options: { session: { kind: "resume", sessionId: randomUUID() } },
    });
    expect(JSON.stringify(messages) + stderr).toContain("No conversation found");
    expect(exit?.code).toBe(1);
    expect(on.rehearsal.ledger.main).toHaveLength(0);
  });

  test("aborting asks the agent to stop; it closes its turn and is gone", async () => {
    const on = await obedientStage();
    const stopping = new AbortController();
    const began = Date.now();
    const { messages, exit } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "tail -f /dev/null" }]),
      options: { signal: stopping.signal },
      onMessage: (message) => {
        if (message.type === "assistant") setTimeout(() => stopping.abort(), 300);
      },
    });
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(exit).toBeDefined();
    expect(resultOf(messages)?.subtype).not.toBe("success");
  });

  test("an abort before the start ends it too", async () => {
    const on = await obedientStage();
    const { exit } = await perform(runtime, on, { options: { signal: AbortSignal.abort() } });
    expect(exit).toBeDefined();
  });

  test("work in the background gives several results; the run ends with the last", async () => {
    const on = await obedientStage();
    const { messages } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "sleep 1; echo BACKGROUND-DONE", run_in_background: true }]),
    });
    const results = ofType(messages, "result");
    expect(messages.at(-1)?.type).toBe("result");
    expect(results.length).toBeGreaterThanOrEqual(runtime.version === "325" ? 2 : 1);
  });

  test("20 MB of tool output do not break the stream", async () => {
    const on = await obedientStage();
    const { messages } = await perform(runtime, on, {
      prompt: obey(["Bash", { command: "head -c 20000000 /dev/zero | tr '\\0' x" }]),
      env: { BASH_MAX_OUTPUT_LENGTH: "150000" },
    });
    expect(resultOf(messages)?.subtype).toBe("success");
  });

  test("a prompt of 1 MB goes in whole", async () => {
    const on = await stage({ script: { rules: [{ reply: "Read." }] } });
    const { messages } = await perform(runtime, on, {
      prompt: `${"long ".repeat(200_000)}END-OF-PROMPT`,
    });
    expect(finalText(messages)).toBe("Read.");
    expect(JSON.stringify(on.rehearsal.ledger.main[0]?.body)).toContain("END-OF-PROMPT");
  });

  test("pieces of the text come when they are asked for", async () => {
    const on = await stage({ script: { rules: [{ reply: "Piece by piece by piece." }] } });
    const { messages } = await perform(runtime, on, { options: { partialMessages: true } });
    expect(ofType(messages, "stream_event").length).toBeGreaterThan(2);
  });
}
