import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";

const anything = ["--permission-mode", "bypassPermissions"];
const bash = (command: string) => ({ name: "Bash", input: { command, description: "rehearsed" } });

describe.concurrent.each(allVersions)("claude %s", (version) => {
  test("receives a text and its cost", async ({ onTestFinished }) => {
    const { claude, rehearsal } = await startHarness(
      {
        script: { rules: [{ match: { prompt: "greet" }, reply: "Hello from the script." }] },
      },
      onTestFinished,
    );
    const run = await claude(version, ["please greet me"]);
    expect(run).toMatchObject({ code: 0, result: { result: "Hello from the script." } });
    expect(run.result?.total_cost_usd).toBeGreaterThan(0);
    expect(rehearsal.ledger.main).toMatchObject([
      {
        method: "POST",
        path: "/v1/messages",
        key: { kind: "x-api-key", value: "rehearsal-key" },
        sessionId: run.result?.session_id,
        prompt: "please greet me",
        rule: "rule 1",
        status: 200,
        end: "answered",
      },
    ]);
  });

  test("runs the Bash call of a sequence, then prints its text", async ({ onTestFinished }) => {
    const { claude, rehearsal, workspace } = await startHarness(
      {
        script: {
          rules: [{ replies: [{ tools: [bash("echo ran > proof.txt")] }, "The command ran."] }],
        },
      },
      onTestFinished,
    );
    const run = await claude(version, ["go", ...anything]);
    expect(run.result?.result).toBe("The command ran.");
    expect(readFileSync(join(workspace, "proof.txt"), "utf8")).toBe("ran\n");
    expect(rehearsal.ledger.main).toHaveLength(2);
  });

  test("runs several tools of one reply", async ({ onTestFinished }) => {
    const { claude, workspace } = await startHarness(
      {
        script: {
          rules: [
            {
              replies: [
                { text: "Both at once.", tools: [bash("touch one"), bash("touch two")] },
                "Done.",
              ],
            },
          ],
        },
      },
      onTestFinished,
    );
    const run = await claude(version, ["go", ...anything]);
    expect(run.result?.result).toBe("Done.");
    expect(existsSync(join(workspace, "one")) && existsSync(join(workspace, "two"))).toBe(true);
  });

  test("shows thinking, given token counts, and a reply selected by a tag", async ({
    onTestFinished,
  }) => {
    const usage = { input_tokens: 1000, output_tokens: 200, cache_read_input_tokens: 30 };
    const { claude } = await startHarness(
      {
        script: {
          rules: [
            { match: { tag: "other" }, reply: "Wrong rule." },
            {
              match: { tag: "deep", system: "agent", model: "claude" },
              reply: { thinking: "Let me see.", text: "Seen.", usage },
            },
          ],
        },
      },
      onTestFinished,
    );
    const run = await claude(version, ["look [[tag:deep]]"]);
    expect(run.result).toMatchObject({ result: "Seen.", usage });
    expect(JSON.stringify(run.messages)).toContain("Let me see.");
  });

  test("starts a subagent, whose requests do not affect the sequence", async ({
    onTestFinished,
  }) => {
    const input = {
      description: "count",
      prompt: "count the files",
      subagent_type: "general-purpose",
      run_in_background: false,
    };
    const { claude, rehearsal } = await startHarness(
      {
        script: {
          rules: [
            { match: { from: "subagent", prompt: "count" }, reply: "There are 3." },
            { replies: [{ tools: [{ name: "Agent", input }] }, "The agent has counted."] },
          ],
        },
      },
      onTestFinished,
    );
    const run = await claude(version, ["delegate", ...anything]);
    expect(run.result?.result).toBe("The agent has counted.");
    expect(rehearsal.ledger.filter({ kind: "subagent" })).toMatchObject([{ rule: "rule 1" }]);
    expect(JSON.stringify(rehearsal.ledger.main.at(-1)?.body)).toContain("There are 3.");
  });

  test("asks for a session title without affecting the sequence", async ({ onTestFinished }) => {
    const { claude, rehearsal, env } = await startHarness(
      {
        script: { rules: [{ times: 1, replies: ["One.", "Two."] }] },
      },
      onTestFinished,
    );
    const { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: _, ...chatty } = env;
    const run = await claude(version, ["what is the weather like today"], { env: chatty });
    expect(run.result?.result).toBe("One.");
    expect(rehearsal.ledger.main).toHaveLength(1);
    const titles = rehearsal.ledger.filter({ kind: "side" });
    expect(titles).toHaveLength(version === "197" ? 1 : 0);
  });
});

/** The older binary waits for its agents and has no such step. */
test("takes one more step when an agent in the background is done (325)", async () => {
  const input = { description: "count", prompt: "count", subagent_type: "general-purpose" };
  const replies = [{ tools: [{ name: "Agent", input }] }, "It works on.", "It is done."];
  const { claude } = await startHarness({ script: { rules: [{ replies }] } });
  const run = await claude("325", ["delegate", ...anything]);
  const results = run.messages.filter((message) => message.type === "result");
  expect(results.map((message) => message.result)).toEqual(["It works on.", "It is done."]);
});
