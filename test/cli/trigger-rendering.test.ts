import type { JobEvent } from "@herdctl/core";
import { gistOf, toolName } from "@herdctl/core/light";
import { expect, test } from "vitest";
import { harmless, harmlessAll } from "../../packages/cli/src/show/harmless.ts";
import { jsonText } from "../../packages/cli/src/show/json-text.ts";
import { Painter } from "../../packages/cli/src/show/painter.ts";
import { cut, widthOf, wrap } from "../../packages/cli/src/show/width.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";
import { visible } from "../../packages/core/src/state/approval-text.ts";

const look = { colors: openTerminal(true).colors, width: 60 };

function painted(events: JobEvent[]): string[] {
  const painter = new Painter(look);
  return [...events.flatMap((event) => painter.paint(event)), ...painter.finish()];
}

const piece = (text: string): JobEvent => ({ kind: "text_piece", text, parent: null });
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
    "a text after its pieces is not said twice",
    [piece("Hello "), piece("there.\nSecond"), text("Hello there.\nSecond line")],
    ["Hello there.", "Second line"],
  ],
  [
    "a text that was spoken in part, then again from the start, is there whole",
    [
      piece("Half a sen"),
      { kind: "retry", attempt: 1, of: 10, status: 529, delayMs: 500 },
      piece("Half a sentence."),
      text("Half a sentence."),
    ],
    [
      "Half a sen",
      "",
      "! the API is overloaded (529), try 1 of 10 in 0.5 s",
      "",
      "Half a sentence.",
    ],
  ],
  [
    "what comes in between does not make a text appear twice",
    [piece("One "), call("t", "Read", { file_path: "/a" }), piece("two."), text("One two.")],
    ["One ", "", "▸ Read  /a", "", "two."],
  ],
  [
    "a text without pieces is wrapped to the screen",
    [text("word ".repeat(20))],
    [`${"word ".repeat(12).trim()}`, `${"word ".repeat(8).trim()}`],
  ],
  [
    "a call is shown by its gist, its result by the first lines",
    [call("t", "Bash", { command: "seq 40" }), result("t", "1\n2\n3\n4\n5\n6\n")],
    ["▸ Bash  seq 40", "  └ 1", "    2", "    3", "    … 3 lines more"],
  ],
  [
    "one line more is shown instead of folded",
    [call("t", "Bash", { command: "seq 4" }), result("t", "1\n2\n3\n4")],
    ["▸ Bash  seq 4", "  └ 1", "    2", "    3", "    4"],
  ],
  [
    "results of calls made at once say whose they are",
    [
      call("a", "Bash", { command: "date" }),
      call("b", "Bash", { command: "uname" }),
      result("a", "today"),
      result("b", "Linux"),
    ],
    ["▸ Bash  date", "▸ Bash  uname", "  └ Bash date", "    today", "  └ Bash uname", "    Linux"],
  ],
  [
    "a subagent works one step further in",
    [
      call("a", "Agent", { description: "look around" }),
      call("b", "Glob", { pattern: "*.ts" }, "a"),
      { ...result("b", ""), parent: "a" } as JobEvent,
      text("Nothing there.", "a"),
    ],
    ["▸ Agent  look around", "│ ▸ Glob  *.ts", "│   └ (nothing)", "│ Nothing there."],
  ],
  [
    "a subagent that is waited for is not told as a task as well",
    [
      call("a", "Agent", { description: "look around" }),
      { kind: "task", state: "started", description: "look around" },
      result("a", "Nothing there."),
      { kind: "task", state: "ended", description: "another one" },
    ],
    ["▸ Agent  look around", "  └ Nothing there.", "◦ background task ended: another one"],
  ],
  [
    "the first line says what runs, and paths are seen from its folder",
    [started, call("t", "Read", { file_path: "/work/repo/a.ts" }), started],
    ["opus · Claude Code 2.1.325 · session s1", "", "▸ Read  a.ts"],
  ],
  [
    "thinking is one short line",
    [{ kind: "thinking", text: `${"hm ".repeat(40)}\nmore`, parent: null }],
    [`✻ ${"hm ".repeat(19)}…`.replace(" …", "…")],
  ],
  ["a limit that is not reached is no news", [{ kind: "limit", rejected: false, resetsAt: 1 }], []],
  [
    "a denial says why",
    [{ kind: "denied", tool: "Bash", reason: "not allowed" }],
    ["! Bash was denied: not allowed"],
  ],
];

test.each(shown)("%s", (_what, events, lines) => {
  expect(painted(events)).toEqual(lines);
});

const gists: [tool: string, input: unknown, gist: string][] = [
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

test.each(gists)("the gist of %s %j", (tool, input, gist) => {
  expect(gistOf(tool, input, "/work/repo")).toBe(gist);
});

test("a tool of an MCP server is named after its server", () => {
  expect(toolName("mcp__github__create_issue")).toBe("github · create_issue");
});

const hostile: [what: string, text: string, shown: string][] = [
  ["clearing the screen", "\x1b[2J\x1b[Hgone", "\\x1b[2J\\x1b[Hgone"],
  ["colours are only dropped", "\x1b[1;31mred\x1b[0m", "red"],
  ["writing the clipboard", "\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"],
  ["a single byte that starts a sequence", "\x9b2J", "\\x9b2J"],
  ["writing over the line before", "safe\rrm -rf /", "safe\nrm -rf /"],
  ["going back", "abc\b\b\bxyz", "abc\\x08\\x08\\x08xyz"],
  ["turning the reading direction", "a\u202eb", "a\\u202eb"],
  ["letters that nobody sees", "a\u{e0041}b\u200bc", "a\\u{e0041}b\\u200bc"],
  ["Windows line ends and tabs stay readable", "a\r\n\tb", "a\n    b"],
];

test.each(hostile)("%s does not reach the terminal", (_what, text, shown) => {
  expect(harmless(text)).toBe(shown);
  const inside: unknown = { list: [{ [text]: text }] };
  expect(harmlessAll(inside)).toEqual({ list: [{ [shown]: shown }] });
});

test("what a person is to judge by keeps even its colours visible", () => {
  expect(visible("\x1b[8mhidden\x1b[0m")).toBe("\\x1b[8mhidden\\x1b[0m");
});

test("nothing an event holds gets through raw, whatever field it is in", () => {
  const evil = "\x1b[2J\x9b\u202e";
  const lines = painted([
    { kind: "started", sessionId: evil, cwd: evil, model: evil, version: evil },
    { kind: "thinking", text: evil, parent: null },
    call("t", evil, { [evil]: evil, command: evil }),
    result("t", evil, true),
    { kind: "denied", tool: evil, reason: evil },
    { kind: "task", state: "started", description: evil },
    piece(evil),
    text(evil),
  ]);
  expect(lines.join("\n")).not.toMatch(/[\x1b\x9b\u202e]/);
});

test("JSON holds no control character either, and is the same value", () => {
  const value = { text: "\x1b[2J \x9b \u202e ünï" };
  const json = jsonText(value);
  expect(json).not.toMatch(/[\x1b\x9b\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});

test("wide letters count double, marks not at all", () => {
  expect(["abc", "日本", "é", "e\u0301", "👩‍👧", "✓"].map(widthOf)).toEqual([3, 4, 1, 1, 2, 1]);
  expect(cut("日本語です", 6)).toBe("日本…");
  expect(wrap("日本語です", 4)).toEqual(["日本", "語で", "す"]);
});

test("a word longer than the line is broken, and nothing of it is lost", () => {
  const line = `see ${"x".repeat(25)} and more`;
  const lines = wrap(line, 10);
  expect(lines.every((one) => widthOf(one) <= 10)).toBe(true);
  expect(lines.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
});
