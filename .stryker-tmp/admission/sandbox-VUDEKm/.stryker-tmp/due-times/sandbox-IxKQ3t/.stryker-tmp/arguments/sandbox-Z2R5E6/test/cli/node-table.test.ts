import type { NodeView } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { nodeTableLines } from "../../packages/cli/src/render/node-table.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";

const renderOptions = { colors: openTerminal(true).colors, width: 120 };

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
    leader: false,
    joined_at: "2026-03-01T12:00:00.000Z",
    heartbeat_at: "2026-03-01T12:00:00.000Z",
    seconds_since_heartbeat: 0.4,
    clock_skew_ms: 2,
    config_current: true,
    self: false,
    ...more,
  };
}

test("prints one line per node with leader, load, last heartbeat and clock offset", () => {
  const lines = nodeTableLines(
    [
      node({ leader: true, self: true, running: 3 }),
      node({ id: "2", name: "rack", role: "worker", labels: ["gpu", "eu"], clock_skew_ms: -240 }),
      node({ id: "3", name: "door", role: "control", clock_skew_ms: null }),
    ],
    renderOptions,
  );
  expect(lines).toEqual([
    "NODE         STATE   ROLE            JOBS  LAST SEEN        CLOCK  VERSION  LABELS",
    "desk (here)  ● live  all, leader  3 of 10        now           ok  1.0.0",
    "rack         ● live  worker       0 of 10        now  240 ms slow  1.0.0    gpu, eu",
    "door         ● live  control            –        now               1.0.0",
  ]);
});

test("lists nodes that left last, with how they left", () => {
  const gone = { seconds_since_heartbeat: 3_700, running: 2 };
  const lines = nodeTableLines(
    [
      node({ id: "1", name: "left", status: "left", ...gone }),
      node({ id: "2", name: "lost", status: "lost", ...gone }),
      node({ id: "3", name: "here" }),
    ],
    renderOptions,
  );
  expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ["here", "● live"],
    ["left", "○ stopped"],
    ["lost", "✗ lost"],
  ]);
  expect(lines[2]).toMatch(/1 h 1 min ago/);
  expect(lines[2]).not.toContain("2 of 10");
});

test("prints warnings about other configurations, clocks and versions below the table", () => {
  const lines = nodeTableLines(
    [
      node({ name: "one" }),
      node({ id: "2", name: "two", config_current: false, version: "1.1.0" }),
      node({ id: "3", name: "three", clock_skew_ms: 90_000 }),
    ],
    renderOptions,
  );
  expect(lines.slice(4)).toEqual([
    expect.stringMatching(/^! two has a different configuration/),
    expect.stringMatching(/^! The clock of three is wrong/),
    "! The nodes run different versions: 1.0.0, 1.1.0.",
  ]);
  expect(lines[3]).toContain("1 min 30 s fast");
});

test("escapes terminal sequences in node names", () => {
  expect(nodeTableLines([node({ name: "a\x1b[2Jb" })], renderOptions).join("")).not.toContain(
    "\x1b",
  );
});
