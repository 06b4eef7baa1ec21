import { mkdirSync } from "node:fs";
import { StateManager } from "@herdctl/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RunnerDesk } from "../../packages/core/src/fleet/runner-desk.ts";
import { ApprovalDesk } from "../../packages/core/src/runner/approval-desk.ts";
import type { RunReport } from "../../packages/core/src/runner/run-report.ts";
import { bareReport } from "../../packages/core/src/runner-process/bare-report.ts";
import {
  RunnerSocket,
  runnerSocketPath,
} from "../../packages/core/src/runner-process/runner-socket.ts";
import { writeOutcome } from "../../packages/core/src/state/outcome-file.ts";
import { folderWith } from "../support/folder.ts";

const jobId = "job-2026-11-17-desk000000";
let state: StateManager;
let jobDir: string;
let runner: RunnerSocket;
let desk: RunnerDesk;

/** A runner that listens, and the fleet's desk for its first attempt, connected to it. */
beforeEach(async () => {
  state = await new StateManager(folderWith({})).open();
  jobDir = state.jobDir(jobId);
  mkdirSync(jobDir, { recursive: true });
  const connected = new Promise<void>((resolve) => {
    runner = new RunnerSocket(runnerSocketPath(jobDir), {
      greeting: () => {
        resolve();
        return [{ type: "hello", job_id: jobId, attempt: 1 }];
      },
      onOrder: () => undefined,
    });
  });
  await runner.open();
  const approvals = new ApprovalDesk(state, { jobId, attempt: 1 }, undefined);
  const noErrand = async () => undefined;
  desk = new RunnerDesk({ jobDir, attempt: 1 }, approvals, noErrand, (error) => {
    expect.fail(String(error));
  });
  await connected;
});

afterEach(async () => {
  runner.close();
  await desk.close();
  await state.close();
});

test("the outcome is taken from the line, before it is looked for in the folder", async () => {
  runner.tell({ type: "outcome", report: reportOf(1) });
  expect(await desk.told).toEqual(reportOf(1));
});

test("the outcome of another attempt is not this one's; its own is in the folder", async () => {
  await writeOutcome(jobDir, reportOf(1));
  runner.tell({ type: "outcome", report: reportOf(2) });
  runner.close();
  expect(await desk.told).toEqual(reportOf(1));
});

test("a runner that hangs up without a word on the line has left it in the folder", async () => {
  await writeOutcome(jobDir, reportOf(1));
  runner.close();
  expect(await desk.told).toEqual(reportOf(1));
});

function reportOf(attempt: number): RunReport {
  const report = bareReport({ jobId, attempt, sessionId: "s" }, { stopped: "interrupted" });
  return { ...report, started_at: at, finished_at: at };
}

const at = "2026-11-17T10:00:00.000Z";
