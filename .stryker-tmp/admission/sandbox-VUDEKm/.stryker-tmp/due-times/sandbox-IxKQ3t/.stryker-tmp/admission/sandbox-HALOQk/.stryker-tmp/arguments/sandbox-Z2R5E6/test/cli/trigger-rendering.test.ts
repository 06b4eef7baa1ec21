import { displayToolName, type JobEvent, summarizeToolCall } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { JobEventRenderer } from "../../packages/cli/src/render/job-event-renderer.ts";
import { sanitizeDeep, sanitizeText } from "../../packages/cli/src/render/sanitize-text.ts";
import { toTerminalJson } from "../../packages/cli/src/render/terminal-json.ts";
import { displayWidth, truncate, wrapLine } from "../../packages/cli/src/render/text-width.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";
import { escapeInvisible } from "../../packages/protocol/src/records/approval-text.ts";

const renderOptions = { colors: openTerminal(true).colors, width: 60 };

function render(events: JobEvent[]): string[] {
  const painter = new JobEventRenderer(renderOptions);
  return [...events.flatMap((event) => painter.render(event)), ...painter.finish()];
}

const textPiece = (text: string): JobEvent => ({ kind: "text_piece", text, parent: null });
const text = (text: string, parent: string | null = null): JobEvent => ({
  kind: "text",
  text,
  parent,
});
const call = (
  id: string,
  tool: string,
  input: unknown,
  parent: string | null = null,
): JobEvent => ({
  kind: "tool_call",
  id,
  tool,
  input,
  parent,
});
const result = (id: string, text: string, isError = false): JobEvent => ({
  kind: "tool_result",
  id,
  text,
  isError,
  parent: null,
});

const started: JobEvent = {
  kind: "started",
  sessionId: "s1",
  cwd: "/work/repo",
  model: "opus",
  version: "2.1.325",
};

const shown: [what: string, events: JobEvent[], lines: string[]][] = [
  [
    "prints a text once after its pieces",
    [textPiece("Hello "), textPiece("there.\nSecond"), text("Hello there.\nSecond line")],
    ["Hello there.", "Second line"],
  ],
  [
    "prints a text in full when it starts again after being partly streamed",
    [
      textPiece("Half a sen"),
      { kind: "retry", attempt: 1, of: 10, status: 529, delayMs: 500 },
      textPiece("Half a sentence."),
      text("Half a sentence."),
    ],
    [
      "Half a sen",
      "",
      "! the API is overloaded (529); retry 1 of 10 in 0.5 s",
      "",
      "Half a sentence.",
    ],
  ],
  [
    "prints a text once when something comes in between",
    [
      textPiece("One "),
      call("t", "Read", { file_path: "/a" }),
      textPiece("two."),
      text("One two."),
    ],
    ["One ", "", "▸ Read  /a", "", "two."],
  ],
  [
    "wraps a text without pieces to the screen",
    [text("word ".repeat(20))],
    [`${"word ".repeat(12).trim()}`, `${"word ".repeat(8).trim()}`],
  ],
  [
    "shows a call by its summary and a result by its first lines",
    [call("t", "Bash", { command: "seq 40" }), result("t", "1\n2\n3\n4\n5\n6\n")],
    ["▸ Bash  seq 40", "  └ 1", "    2", "    3", "    … 3 more lines"],
  ],
  [
    "shows one remaining line instead of folding it",
    [call("t", "Bash", { command: "seq 4" }), result("t", "1\n2\n3\n4")],
    ["▸ Bash  seq 4", "  └ 1", "    2", "    3", "    4"],
  ],
  [
    "labels the results of concurrent calls",
    [
      call("a", "Bash", { command: "date" }),
      call("b", "Bash", { command: "uname" }),
      result("a", "today"),
      result("b", "Linux"),
    ],
    ["▸ Bash  date", "▸ Bash  uname", "  └ Bash date", "    today", "  └ Bash uname", "    Linux"],
  ],
  [
    "indents a subagent's work",
    [
      call("a", "Agent", { description: "look around" }),
      call("b", "Glob", { pattern: "*.ts" }, "a"),
      { ...result("b", ""), parent: "a" } as JobEvent,
      text("Nothing there.", "a"),
    ],
    ["▸ Agent  look around", "│ ▸ Glob  *.ts", "│   └ (no output)", "│ Nothing there."],
  ],
  [
    "omits the task of a subagent that is waited for",
    [
      call("a", "Agent", { description: "look around" }),
      { kind: "task", state: "started", description: "look around" },
      result("a", "Nothing there."),
      { kind: "task", state: "ended", description: "another one" },
    ],
    ["▸ Agent  look around", "  └ Nothing there.", "◦ background task ended: another one"],
  ],
  [
    "shows model and session in the first line and paths relative to the folder",
    [started, call("t", "Read", { file_path: "/work/repo/a.ts" }), started],
    ["opus · Claude Code 2.1.325 · session s1", "", "▸ Read  a.ts"],
  ],
  [
    "shortens thinking to one line",
    [{ kind: "thinking", text: `${"hm ".repeat(40)}\nmore`, parent: null }],
    [`✻ ${"hm ".repeat(19)}…`.replace(" …", "…")],
  ],
  ["omits a limit that is not reached", [{ kind: "limit", rejected: false, resetsAt: 1 }], []],
  [
    "shows the reason of a denial",
    [{ kind: "denied", tool: "Bash", reason: "not allowed" }],
    ["! Bash was denied: not allowed"],
  ],
];

test.each(shown)("%s", (_what, events, lines) => {
  expect(render(events)).toEqual(lines);
});

const toolSummaryCases: [tool: string, input: unknown, gist: string][] = [
  ["Bash", { command: "npm test\nnpm run build", description: "x" }, "npm test ⏎ npm run build"],
  ["Read", { file_path: "/work/repo/src/a.ts" }, "src/a.ts"],
  ["Edit", { file_path: "/etc/passwd", old_string: "a" }, "/etc/passwd"],
  ["Grep", { pattern: "TODO", path: "/work/repo/src" }, "TODO in src"],
  ["WebFetch", { url: "https://example.com", prompt: "?" }, "https://example.com"],
  [
    "TodoWrite",
    {
      todos: [
        { content: "a", status: "completed" },
        { content: "b", status: "in_progress" },
      ],
    },
    "1 of 2 done: b",
  ],
  ["mcp__github__create_issue", { title: "Bug", body: "…" }, "Bug"],
  ["Unknown", { depth: 3 }, '{"depth":3}'],
  ["Bash", null, ""],
];

test.each(toolSummaryCases)("summarizes %s %j", (tool, input, gist) => {
  expect(summarizeToolCall(tool, input, "/work/repo")).toBe(gist);
});

test("names an MCP tool after its server", () => {
  expect(displayToolName("mcp__github__create_issue")).toBe("github · create_issue");
});

const hostile: [what: string, text: string, shown: string][] = [
  ["a clear-screen sequence", "\x1b[2J\x1b[Hgone", "\\x1b[2J\\x1b[Hgone"],
  ["a colour sequence", "\x1b[1;31mred\x1b[0m", "red"],
  ["a clipboard sequence", "\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"],
  ["a single-byte control introducer", "\x9b2J", "\\x9b2J"],
  ["an overwriting carriage return", "safe\rrm -rf /", "safe\nrm -rf /"],
  ["a backspace", "abc\b\b\bxyz", "abc\\x08\\x08\\x08xyz"],
  ["a bidirectional override", "a\u202eb", "a\\u202eb"],
  ["invisible characters", "a\u{e0041}b\u200bc", "a\\u{e0041}b\\u200bc"],
  ["a Windows line end with a tab", "a\r\n\tb", "a\n    b"],
];

test.each(hostile)("neutralizes %s", (_what, text, shown) => {
  expect(sanitizeText(text)).toBe(shown);
  const inside: unknown = { list: [{ [text]: text }] };
  expect(sanitizeDeep(inside)).toEqual({ list: [{ [shown]: shown }] });
});

test("keeps colour sequences visible in what a person must judge", () => {
  expect(escapeInvisible("\x1b[8mhidden\x1b[0m")).toBe("\\x1b[8mhidden\\x1b[0m");
});

test("escapes every field of every event", () => {
  const evil = "\x1b[2J\x9b\u202e";
  const lines = render([
    { kind: "started", sessionId: evil, cwd: evil, model: evil, version: evil },
    { kind: "thinking", text: evil, parent: null },
    call("t", evil, { [evil]: evil, command: evil }),
    result("t", evil, true),
    { kind: "denied", tool: evil, reason: evil },
    { kind: "task", state: "started", description: evil },
    textPiece(evil),
    text(evil),
  ]);
  expect(lines.join("\n")).not.toMatch(/[\x1b\x9b\u202e]/);
});

test("escapes control characters in JSON without changing the value", () => {
  const value = { text: "\x1b[2J \x9b \u202e ünï" };
  const json = toTerminalJson(value);
  expect(json).not.toMatch(/[\x1b\x9b\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});

test("counts wide letters as two columns and combining marks as none", () => {
  expect(["abc", "日本", "é", "e\u0301", "👩‍👧", "✓"].map(displayWidth)).toEqual([
    3, 4, 1, 1, 2, 1,
  ]);
  expect(truncate("日本語です", 6)).toBe("日本…");
  expect(wrapLine("日本語です", 4)).toEqual(["日本", "語で", "す"]);
});

test("breaks a word that is longer than the line without losing any of it", () => {
  const line = `see ${"x".repeat(25)} and more`;
  const lines = wrapLine(line, 10);
  expect(lines.every((one) => displayWidth(one) <= 10)).toBe(true);
  expect(lines.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
});
