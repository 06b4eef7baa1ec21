import { mkdirSync } from "node:fs";
import { StateManager } from "@herdctl/core/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ApprovalRequests } from "../../packages/core/src/jobs/attempts/approval-requests.ts";
import { RunnerConnection } from "../../packages/core/src/jobs/attempts/runner-connection.ts";
import { runnerSocketPath } from "../../packages/core/src/runner/contract/paths.ts";
import type { RunReport } from "../../packages/core/src/runner/contract/run-report.ts";
import { RunnerSocket } from "../../packages/core/src/runner/process/runner-socket.ts";
import { minimalReport } from "../../packages/core/src/runner/recovery/report-from-log.ts";
import { writeOutcome } from "../../packages/core/src/store/files/job-folder.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const jobId = "job-2026-11-17-desk000000";
let state: StateManager;
let jobDir: string;
let runner: RunnerSocket;
let connection: RunnerConnection;

/** A listening runner, and the fleet's connection to it for its first attempt. */
beforeEach(async () => {
  state = await new StateManager(tempFolderWith({})).open();
  jobDir = state.jobDir(jobId);
  mkdirSync(jobDir, { recursive: true });
  const connected = new Promise<void>((resolve) => {
    runner = new RunnerSocket(runnerSocketPath(jobDir), {
      initialMessages: () => {
        resolve();
        return [{ type: "hello", job_id: jobId, attempt: 1 }];
      },
      onCommand: () => undefined,
    });
  });
  await runner.open();
  const approvals = new ApprovalRequests(state, { jobId, attempt: 1 }, undefined);
  const noToolCall = async () => undefined;
  connection = new RunnerConnection({ jobDir, attempt: 1 }, approvals, noToolCall, (error) => {
    expect.fail(String(error));
  });
  await connected;
});

afterEach(async () => {
  runner.close();
  await connection.close();
  await state.close();
});

test("reads the outcome from the job folder when the runner closes the connection", async () => {
  await writeOutcome(jobDir, reportOf(1));
  runner.close();
  expect(await connection.reported).toEqual(reportOf(1));
});

function reportOf(attempt: number): RunReport {
  const report = minimalReport({ jobId, attempt, sessionId: "s" }, { stopped: "interrupted" });
  return { ...report, started_at: at, finished_at: at };
}

const at = "2026-11-17T10:00:00.000Z";
