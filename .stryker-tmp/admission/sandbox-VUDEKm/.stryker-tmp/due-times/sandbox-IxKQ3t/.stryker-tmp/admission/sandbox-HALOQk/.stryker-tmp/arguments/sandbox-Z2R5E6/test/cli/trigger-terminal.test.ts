import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { startCliHarness } from "./cli-harness.ts";

const hostile = "\x1b[2J\x1b]0;owned\x07\x9b5A\u202eevil";

const hostileScript = {
  rules: [
    {
      replies: [
        {
          text: `I say ${hostile}`,
          tools: [
            {
              name: "Bash",
              input: { command: "printf '\\033[2J\\033]0;owned\\007\\033[31mred\\033[0m'" },
            },
          ],
        },
        "Over.",
      ],
    },
  ],
};

/** The sequences of the renderer: colours, cursor up, erase, hide and show. */
const ownEscapeSequences = /\x1b\[(?:\d+(?:;\d+)*m|1A|0J|\?25[lh])/g;

test("keeps escape sequences of agents and tools out of the terminal", async () => {
  const harness = await startCliHarness(hostileScript);
  const { code, screen } = await harness.inTerminal(["trigger", "cli", "-p", "go", "--wait"]);
  expect(code).toBe(0);
  expect(screen).toContain("\\x1b[2J\\x1b]0;owned\\x07\\x9b5A\\u202eevil");
  expect(screen).toContain("\\x1b[2J\\x1b]0;owned\\x07red");
  expect(screen.replaceAll(ownEscapeSequences, "")).not.toMatch(/[\x1b\x07\x9b\u202e]/);

  for (const args of [["logs", "cli"], ["jobs"], ["job", "job-"], ["logs", "cli", "--json"]]) {
    const shown = await harness.inTerminal(args);
    expect(shown.code).toBe(0);
    expect(shown.screen.replaceAll(ownEscapeSequences, "")).not.toMatch(/[\x1b\x07\x9b\u202e]/);
  }
});

test("shows text, calls, results, a spinner and the end of a job", async () => {
  const harness = await startCliHarness({
    rules: [
      {
        replies: [
          {
            text: "One moment please.",
            tools: [{ name: "Bash", input: { command: "sleep 0.5; seq 40" } }],
            delay: { between: "30ms" },
          },
          "Counted to forty.",
        ],
      },
    ],
  });
  const { code, screen } = await harness.inTerminal(["trigger", "sdk", "-p", "count", "--wait"]);
  expect(code).toBe(0);
  expect(screen).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏].*Bash sleep 0\.5; seq 40/);
  const lines = visibleLines(screen);
  expect(lines).toEqual([
    expect.stringMatching(/^sdk {2}job-/),
    expect.stringMatching(/Claude Code [\d.]+ · session [0-9a-f-]{36}$/),
    "",
    "One moment please.",
    "",
    "▸ Bash  sleep 0.5; seq 40",
    "  └ 1",
    "    2",
    "    3",
    "    … 37 more lines",
    "",
    "Counted to forty.",
    "",
    "✓ success  The agent finished.",
    expect.stringMatching(/^ {2}[\d.]+ s · \$[\d.]+ · 2 turns$/),
    expect.stringMatching(/^ {2}session {3}[0-9a-f-]{36}$/),
    expect.stringMatching(/^ {2}resume {4}herdctl trigger sdk --resume job-/),
    expect.stringMatching(/^ {2}by hand {3}herdctl sessions resume job-/),
  ]);
});

/** The lines that remain after everything that was drawn over. */
function visibleLines(screen: string): string[] {
  const lines = [""];
  for (const part of screen
    .replaceAll(/\x1b\[(?:\d+m|\?25[lh])/g, "")
    .split(/(\x1b\[1A|\r\x1b\[0J|\r?\n)/)) {
    if (part === "\x1b[1A") lines.pop();
    else if (part.endsWith("\n")) lines.push("");
    else if (part === "\r\x1b[0J") lines[lines.length - 1] = "";
    else lines[lines.length - 1] += part;
  }
  return lines.slice(0, -1);
}

test("asks the agent to stop on Ctrl-C and prints that", async () => {
  const harness = await startCliHarness({
    rules: [{ replies: [{ tools: [{ name: "Bash", input: { command: "sleep 300" } }] }, "Over."] }],
  });
  const { code, screen } = await harness.inTerminal(
    ["trigger", "cli", "-p", "sleep", "--wait"],
    [{ when: "Bash sleep 300", type: "\x03" }],
  );
  expect(code).toBe(1);
  expect(screen).toMatch(/Stopping … Press Ctrl-C again/);
  expect(screen).toMatch(/cancelled/);
});

const permissionScript = {
  rules: [
    {
      replies: [
        {
          tools: [
            { name: "Bash", input: { command: "touch allowed", description: "one" } },
            { name: "Write", input: { file_path: "denied", content: "seen\x1b[8m unseen" } },
          ],
        },
        "Over.",
      ],
    },
  ],
};

test("shows each request in full in mode default, and denies it on Enter", async () => {
  const harness = await startCliHarness(permissionScript);
  const { code, screen } = await harness.inTerminal(
    ["trigger", "asks", "-p", "go", "--wait"],
    [
      { when: "to navigate", type: "\x1b[B" },
      { when: "to navigate", type: "\r" },
      { when: "to navigate", type: "\r" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("seen\\x1b[8m unseen");
  expect(screen).toMatch(/finished_with_denials/);
  expect(readdirSync(harness.workspace)).toEqual(["allowed"]);
});
