import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { claudeBinary, claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";

const turnScript = {
  rules: [
    { match: { turn: 1 }, reply: "First answer." },
    { match: { turn: 2 }, reply: "Second answer." },
  ],
};

describe.concurrent.each(claudeVersions)("claude %s", (version) => {
  test("resumes a session: the second turn contains the first", async ({ onTestFinished }) => {
    const { claude, rehearsal } = await startHarness({ script: turnScript }, onTestFinished);
    const first = await claude(version, ["one"]);
    const session = first.result?.session_id ?? "";
    const second = await claude(version, ["two", "--resume", session]);
    expect(second.result).toMatchObject({ result: "Second answer.", session_id: session });
    expect(rehearsal.ledger.filter({ sessionId: session, kind: "main" })).toHaveLength(2);
  });

  test("forks a session with a new id and the old turns", async ({ onTestFinished }) => {
    const { claude, rehearsal } = await startHarness({ script: turnScript }, onTestFinished);
    const first = await claude(version, ["one"]);
    const session = first.result?.session_id ?? "";
    const fork = await claude(version, ["two", "--resume", session, "--fork-session"]);
    expect(fork.result?.result).toBe("Second answer.");
    expect(fork.result?.session_id).not.toBe(session);
    expect(rehearsal.ledger.main.at(-1)?.sessionId).toBe(fork.result?.session_id);
    expect(JSON.stringify(rehearsal.ledger.main.at(-1)?.body)).toContain("First answer.");
  });

  test("compacts without affecting the rules", async ({ onTestFinished }) => {
    const { claude, rehearsal } = await startHarness(
      { script: { rules: [{ reply: "Scripted." }] } },
      onTestFinished,
    );
    const first = await claude(version, ["one"]);
    const session = ["--resume", first.result?.session_id ?? ""];
    await claude(version, ["two", ...session]);
    await claude(version, ["/compact", ...session]);
    expect(rehearsal.ledger.main).toHaveLength(2);
    expect(rehearsal.ledger.filter({ kind: "side" }).length).toBeGreaterThan(0);
  });

  test("connects through a unix socket", async ({ onTestFinished }) => {
    const other = await startHarness({}, onTestFinished);
    const socketPath = join(other.home, "model.sock");
    const { claude, rehearsal } = await startHarness(
      {
        socketPath,
        script: { rules: [{ reply: "Hi." }] },
      },
      onTestFinished,
    );
    expect(rehearsal.url).toBeUndefined();
    expect((await claude(version, ["go"])).result?.result).toBe("Hi.");
  });

  test("reaches the model although a proxy is set", async ({ onTestFinished }) => {
    const { claude, env } = await startHarness(
      { script: { rules: [{ reply: "Hi." }] } },
      onTestFinished,
    );
    const proxied = { ...env, HTTP_PROXY: "http://127.0.0.1:9" };
    expect((await claude(version, ["go"], { env: proxied })).result?.result).toBe("Hi.");
  });

  test("runs under the SDK's query()", async ({ onTestFinished }) => {
    const bash = { name: "Bash", input: { command: "echo from-the-sdk" } };
    const { env, workspace, rehearsal } = await startHarness(
      {
        script: {
          rules: [
            { match: { tool_result: "from-the-sdk" }, reply: "Seen." },
            { reply: { tools: [bash] } },
          ],
        },
      },
      onTestFinished,
    );
    const results: string[] = [];
    const options = {
      env,
      cwd: workspace,
      allowedTools: ["Bash"],
      pathToClaudeCodeExecutable: claudeBinary(version),
    };
    for await (const message of query({ prompt: "go", options })) {
      if (message.type === "result" && message.subtype === "success") results.push(message.result);
    }
    expect(results).toEqual(["Seen."]);
    expect(rehearsal.ledger.main).toHaveLength(2);
  });
});
