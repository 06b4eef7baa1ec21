import type { NodeView } from "@herdctl/core";
import { expect, test } from "vitest";
import { nodeLines } from "../../packages/cli/src/show/node-table.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";

const look = { colors: openTerminal(true).colors, width: 120 };

function node(more: Partial<NodeView> = {}): NodeView {
  return {
    id: "node-1",
    name: "desk",
    role: "all",
    labels: [],
    capacity: 10,
    running: 0,
    version: "1.0.0",
    status: "live",
    lead: false,
    joined_at: "2026-03-01T12:00:00.000Z",
    heartbeat_at: "2026-03-01T12:00:00.000Z",
    seconds_since_beat: 0.4,
    skew_ms: 2,
    config_in_force: true,
    here: false,
    ...more,
  };
}

test("each node is a line: who leads, what it runs, when it was heard of, and how its clock goes", () => {
  const lines = nodeLines(
    [
      node({ lead: true, here: true, running: 3 }),
      node({ id: "2", name: "rack", role: "worker", labels: ["gpu", "eu"], skew_ms: -240 }),
      node({ id: "3", name: "door", role: "control", skew_ms: null }),
    ],
    look,
  );
  expect(lines).toEqual([
    "NODE         STATE   ROLE             JOBS  HEARD OF        CLOCK  VERSION  LABELS",
    "desk (here)  ● live  all, leads    3 of 10       now        right  1.0.0",
    "rack         ● live  worker        0 of 10       now  240 ms slow  1.0.0    gpu, eu",
    "door         ● live  control     runs none       now               1.0.0",
  ]);
});

test("those that do not take part come last, and say how they went", () => {
  const gone = { seconds_since_beat: 3_700, running: 2 };
  const lines = nodeLines(
    [
      node({ id: "1", name: "left", status: "left", ...gone }),
      node({ id: "2", name: "lost", status: "lost", ...gone }),
      node({ id: "3", name: "here" }),
    ],
    look,
  );
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ["here", "● live"],
    ["left", "○ stopped"],
    ["lost", "✗ lost"],
  ]);
  expect(lines[2]).toMatch(/1 h 1 min ago/);
  expect(lines[2]).not.toContain("2 of 10");
});

test("what somebody should know stands below: other files, a wrong clock, other versions", () => {
  const lines = nodeLines(
    [
      node({ name: "one" }),
      node({ id: "2", name: "two", config_in_force: false, version: "1.1.0" }),
      node({ id: "3", name: "three", skew_ms: 90_000 }),
    ],
    look,
  );
  expect(lines.slice(4)).toEqual([
    expect.stringMatching(/^! two has read another configuration/),
    expect.stringMatching(/^! the clock of three is wrong/),
    "! versions differ: 1.0.0, 1.1.0.",
  ]);
  expect(lines[3]).toContain("1 min 30 s fast");
});

test("a name cannot play tricks on the terminal", () => {
  expect(nodeLines([node({ name: "a\x1b[2Jb" })], look).join("")).not.toContain("\x1b");
});
