import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import type { LedgerEntry, Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";

type Faults = NonNullable<NonNullable<Script["rules"]>[number]["fault"]>;

const text = "A text that is long enough to need several events on its way to the other side.";
const faultScript = (fault: Faults): Script => ({ rules: [{ reply: text, fault }] });
const millisecondsBetween = (from: LedgerEntry | undefined, to: LedgerEntry | undefined) =>
  Date.parse(to?.at ?? "") - Date.parse(from?.at ?? "");

describe.concurrent.each(claudeVersions)("claude %s", (version) => {
  test("retries after 529 twice and succeeds with three requests", async ({ onTestFinished }) => {
    const { claude, rehearsal } = await startHarness(
      { script: faultScript({ status: 529, times: 2 }) },
      onTestFinished,
    );
    const run = await claude(version, ["go"]);
    expect(run).toMatchObject({ code: 0, result: { result: text, is_error: false } });
    expect(rehearsal.ledger.main).toMatchObject([
      { status: 529, fault: "status 529", usage: undefined },
      { status: 529, fault: "status 529" },
      { status: 200, fault: undefined },
    ]);
  });

  test("waits as long as retry-after says", async ({ onTestFinished }) => {
    const headers = { "retry-after": "2" };
    const script = faultScript({ status: 429, headers, times: 1 });
    const { claude, rehearsal } = await startHarness({ script }, onTestFinished);
    const run = await claude(version, ["go"]);
    const [refused, answered] = rehearsal.ledger.main;
    expect(run.result?.result).toBe(text);
    expect(millisecondsBetween(refused, answered)).toBeGreaterThanOrEqual(1_900);
  });

  test("reports a status that it does not retry, with our message", async ({ onTestFinished }) => {
    const fault = { status: 403, error_type: "permission_error", message: "Not for you." };
    const { claude, rehearsal } = await startHarness(
      { script: faultScript(fault) },
      onTestFinished,
    );
    const run = await claude(version, ["go"]);
    expect(run).toMatchObject({ code: 1, result: { is_error: true, api_error_status: 403 } });
    expect(run.result?.result).toContain("Not for you.");
    expect(rehearsal.ledger.main.every((entry) => entry.status === 403)).toBe(true);
  });

  test.for<[string, Faults]>([
    ["overload", { overload: "before", times: 1 }],
    ["overload", { overload: "midway", times: 1 }],
    ["cut", { cut: { events: 3 }, times: 1 }],
    ["cut", { cut: { bytes: 300 }, times: 1 }],
    ["garbage", { garbage: "events", times: 1 }],
    ["garbage", { garbage: "body", times: 1 }],
  ])("recovers from %s: %j", async ([name, fault], { onTestFinished }) => {
    const { claude, rehearsal } = await startHarness(
      { script: faultScript(fault) },
      onTestFinished,
    );
    const run = await claude(version, ["go"]);
    expect(run).toMatchObject({ code: 0, result: { result: text } });
    expect(rehearsal.ledger.main.map((entry) => entry.fault)).toEqual([name, undefined]);
    expect(rehearsal.ledger.main[0]?.end).toBe(name === "cut" ? "broken_off" : "answered");
  });

  test("tolerates a slow stream", async ({ onTestFinished }) => {
    const script = faultScript({ drip: { bytes: 100, every: "20ms" }, times: 1 });
    const { claude, rehearsal } = await startHarness({ script }, onTestFinished);
    expect((await claude(version, ["go"])).result?.result).toBe(text);
    expect(rehearsal.ledger.main[0]?.durationMs).toBeGreaterThan(200);
  });

  test("goes through a list of faults one by one", async ({ onTestFinished }) => {
    const script = faultScript([
      { status: 500, times: 1 },
      { cut: { events: 2 }, times: 1 },
    ]);
    const { claude, rehearsal } = await startHarness({ script }, onTestFinished);
    expect((await claude(version, ["go"])).result?.result).toBe(text);
    const faults = rehearsal.ledger.main.map((entry) => entry.fault);
    expect(faults).toEqual(["status 500", "cut", undefined]);
  });

  test.for<[Faults, number | undefined]>([
    [{ stall: { events: 3 } }, 200],
    [{ never: true }, undefined],
  ])(
    "hangs on %j until it is killed, and the ledger records it",
    async ([fault, status], { onTestFinished }) => {
      let child: ChildProcess | undefined;
      const over = new EventEmitter<{ main: [LedgerEntry] }>();
      const last = once(over, "main");
      const onRequest = (entry: LedgerEntry) => {
        if (entry.kind !== "main") return;
        if (entry.end === "open") setTimeout(() => child?.kill("SIGKILL"), 300);
        else over.emit("main", entry);
      };
      const { claude, rehearsal } = await startHarness(
        { script: faultScript(fault), onRequest },
        onTestFinished,
      );
      const run = await claude(version, ["go"], { onStart: (started) => (child = started) });
      expect(run).toMatchObject({ signal: "SIGKILL", result: undefined });
      expect(await last).toMatchObject([{ end: "client_gone", status }]);
      expect(rehearsal.ledger.main).toHaveLength(1);
    },
  );
});
