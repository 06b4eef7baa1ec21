import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parseKeys } from "../../packages/cli/src/top/keys.ts";
import { ScrollWindow } from "../../packages/cli/src/top/scroll-window.ts";
import { waitUntil } from "./cli-harness.ts";
import { longRunningScript, startRunningFleet } from "./running-fleet.ts";

test("parses keys however their bytes arrive", () => {
  expect(parseKeys("\x1b[Ak\x1bOBq\r\x1b").map((key) => key.name)).toEqual([
    "up",
    "up",
    "down",
    "back",
    "enter",
    "back",
  ]);
  expect(parseKeys("cX")).toEqual([{ name: "letter", letter: "c" }]);
  expect(parseKeys("\x03")).toEqual([{ name: "quit" }]);
});

const numberLines = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test("follows a log at its end until the user scrolls up, and again after returning to the end", () => {
  const window = new ScrollWindow({ atEnd: true });
  expect(window.visibleLines(numberLines(5), 3)).toEqual(["3", "4", "5"]);
  expect(window.visibleLines(numberLines(6), 3)).toEqual(["4", "5", "6"]);
  window.handleKey({ name: "up" });
  expect(window.visibleLines(numberLines(9), 3)).toEqual(["3", "4", "5"]);
  window.handleKey({ name: "end" });
  expect(window.visibleLines(numberLines(10), 3)).toEqual(["8", "9", "10"]);
});

test("counts the end of a long question as seen only once it was on the screen", () => {
  const window = new ScrollWindow({ atEnd: false });
  window.visibleLines(numberLines(5), 3);
  expect(window.hasSeenEnd).toBe(false);
  window.handleKey({ name: "pagedown" });
  window.visibleLines(numberLines(5), 3);
  expect(window.hasSeenEnd).toBe(true);
});

const enterAlternateScreen = "\x1b[?1049h";
const leaveAlternateScreen = "\x1b[?1049l";

test("shows the fleet, opens a log, cancels, pauses and restores the terminal", async () => {
  const harness = await startRunningFleet(longRunningScript);
  const id = await harness.triggerJob("sdk", "go");
  await harness.waitUntilRunning(1);
  const { code, screen } = await harness.inTerminal(
    ["top"],
    [
      { when: "● running", type: "\r" },
      { when: "▸", type: "q" },
      { when: "enter log", type: "p" },
      { when: "is paused", type: "c" },
      { when: "Press c again", type: "c" },
      { when: "cancelled", type: "q" },
    ],
  );
  expect(code).toBe(0);
  expect(screen.indexOf(enterAlternateScreen)).toBeGreaterThanOrEqual(0);
  expect(screen.trimEnd().endsWith(leaveAlternateScreen)).toBe(true);
  expect(screen).toMatch(/▸.*Bash.*seq 600/);
  expect(await harness.job(id)).toMatchObject({ status: "cancelled" });
  const { agents } = await harness.withControl((fleet) => fleet.status());
  expect(agents.find((agent) => agent.name === "sdk")?.paused).not.toBeNull();
});

test("shows and answers a whole question and escapes hostile text", async () => {
  const content = "seen\x1b]0;owned\x07\x1b[2J";
  const write = { tools: [{ name: "Write", input: { file_path: "allowed", content } }] };
  const harness = await startRunningFleet({ rules: [{ replies: [write, "Over."] }] });
  const id = await harness.triggerJob("asks", "go");
  await waitUntil(
    async () => (await harness.withControl((fleet) => fleet.approvals.list())).length > 0,
  );
  const { code, screen } = await harness.inTerminal(
    ["top"],
    [
      { when: "wants to use Write", type: "a" },
      { when: "allow once", type: "a" },
      { when: "success", type: "\x03" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("\\x1b]0;owned\\x07\\x1b[2J");
  expect(screen).not.toMatch(/\x1b\]|\x07|\x1b\[2J/);
  expect(await harness.waitForJob(id)).toMatchObject({ outcome: { code: "success" } });
  expect(readdirSync(harness.workspace)).toEqual(["allowed"]);
});
