import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { keysOf } from "../../packages/cli/src/top/keys.ts";
import { Window } from "../../packages/cli/src/top/window.ts";
import { until } from "./fleet-stage.ts";
import { longWork, runningFleet } from "./fleet-stage-running.ts";

test("keys are told apart, however they arrive", () => {
  expect(keysOf("\x1b[Ak\x1bOBq\r\x1b").map((key) => key.name)).toEqual([
    "up",
    "up",
    "down",
    "back",
    "enter",
    "back",
  ]);
  expect(keysOf("cX")).toEqual([{ name: "letter", letter: "c" }]);
  expect(keysOf("\x03")).toEqual([{ name: "quit" }]);
});

const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test("a log is followed at its end until somebody scrolls up, and again from the end", () => {
  const window = new Window({ atEnd: true });
  expect(window.view(numbers(5), 3)).toEqual(["3", "4", "5"]);
  expect(window.view(numbers(6), 3)).toEqual(["4", "5", "6"]);
  window.press({ name: "up" });
  expect(window.view(numbers(9), 3)).toEqual(["3", "4", "5"]);
  window.press({ name: "end" });
  expect(window.view(numbers(10), 3)).toEqual(["8", "9", "10"]);
});

test("the end of a long question counts as seen only once it was on the screen", () => {
  const window = new Window({ atEnd: false });
  window.view(numbers(5), 3);
  expect(window.sawEnd).toBe(false);
  window.press({ name: "pagedown" });
  window.view(numbers(5), 3);
  expect(window.sawEnd).toBe(true);
});

const enter = "\x1b[?1049h";
const leave = "\x1b[?1049l";

test("it shows the fleet, opens a log, cancels, pauses, and gives the terminal back", async () => {
  const on = await runningFleet(longWork);
  const id = await on.give("sdk", "go");
  await on.untilRunning(1);
  const { code, screen } = await on.inTerminal(
    ["top"],
    [
      { when: "● running", type: "\r" },
      { when: "▸", type: "q" },
      { when: "enter log", type: "p" },
      { when: "is paused", type: "c" },
      { when: "c again cancels", type: "c" },
      { when: "cancelled", type: "q" },
    ],
  );
  expect(code).toBe(0);
  expect(screen.indexOf(enter)).toBeGreaterThanOrEqual(0);
  expect(screen.trimEnd().endsWith(leave)).toBe(true);
  expect(screen).toMatch(/▸.*Bash.*seq 600/);
  expect(await on.job(id)).toMatchObject({ status: "cancelled" });
  const { agents } = await on.ask((fleet) => fleet.status());
  expect(agents.find((agent) => agent.name === "sdk")?.paused).not.toBeNull();
});

test("a question is shown whole and answered, and hostile text stays text", async () => {
  const content = "seen\x1b]0;owned\x07\x1b[2J";
  const write = { tools: [{ name: "Write", input: { file_path: "allowed", content } }] };
  const on = await runningFleet({ rules: [{ replies: [write, "Over."] }] });
  const id = await on.give("asks", "go");
  await until(async () => (await on.ask((fleet) => fleet.approvals())).length > 0);
  const { code, screen } = await on.inTerminal(
    ["top"],
    [
      { when: "asks to use Write", type: "a" },
      { when: "allow this once", type: "a" },
      { when: "success", type: "\x03" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("\\x1b]0;owned\\x07\\x1b[2J");
  expect(screen).not.toMatch(/\x1b\]|\x07|\x1b\[2J/);
  expect(await on.ended(id)).toMatchObject({ outcome: { code: "success" } });
  expect(readdirSync(on.workspace)).toEqual(["allowed"]);
});
