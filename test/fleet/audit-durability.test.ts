import { join } from "node:path";
import type { FleetControl } from "@herdctl/protocol";
import { expect, onTestFinished, test } from "vitest";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { bearer, startHttpHarness } from "../server/http-harness.ts";
import { githubHeaders, githubSchedule, startWebhookHarness } from "../webhooks/webhook-harness.ts";

/** The log as another process reads it, with committed records only. */
async function startAuditedFleet(folder: string) {
  const state = await new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
  const { records } = await state.audit.list({ limit: 1000 });
  await state.close();
  return records.map(({ action, target, outcome }) => [action, target, outcome]);
}

const kim = { identity: "user:kim", origin: "socket" };

const auditedChanges: [
  action: string,
  target: string | null,
  act: (fleet: FleetControl) => unknown,
][] = [
  ["agent.pause", "coder", (fleet) => fleet.agents.pause("coder")],
  ["agent.resume", "coder", (fleet) => fleet.agents.resume("coder")],
  ["budget.raise", null, (fleet) => fleet.budget.raise({ usd: 5 })],
  ["token.create", "ci", (fleet) => fleet.tokens.create({ name: "ci", scope: "read" })],
  ["token.revoke", "ci", (fleet) => fleet.tokens.revoke("ci")],
  ["login.end_all", null, (fleet) => fleet.logins.endAll()],
  ["schedule.switch", "coder/issues", (fleet) => fleet.schedules.disable(issues)],
];
const issues = { agent: "coder", schedule: "issues" };

test("commits a change to the audit log before answering its caller", async () => {
  const { fleet, folder } = await startWebhookHarness([githubSchedule]);
  await fleet.start();
  for (const [action, target, act] of auditedChanges) {
    await act(fleet.as(kim));
    expect((await startAuditedFleet(folder))[0]).toEqual([action, target, "ok"]);
  }
  await fleet.as(kim).reload();
  expect((await startAuditedFleet(folder))[0]).toEqual(["fleet.reload", null, "ok"]);
});

test("acknowledges no change that cannot be recorded, and creates no token", async () => {
  const { fleet, folder } = await startWebhookHarness([githubSchedule]);
  await fleet.tokens.create({ name: "ci", scope: "read" });
  const database = new SqliteDatabase(join(folder, ".herdctl/herd.db"));
  onTestFinished(() => database.close());
  database.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'broken'); END",
  );
  const acting = fleet.as(kim);
  for (const [, , act] of auditedChanges.filter(([action]) => action !== "token.create")) {
    await expect(act(acting)).rejects.toThrow("broken");
  }
  await expect(acting.tokens.create({ name: "new", scope: "admin" })).rejects.toThrow("broken");
  await expect(acting.jobs.trigger({ agent: "coder", prompt: "go" })).rejects.toThrow("broken");
  expect((await fleet.tokens.list()).map(({ name }) => name)).toEqual(["ci"]);
  database.exec("DROP TRIGGER broken");
  await acting.agents.pause("coder");
  expect((await startAuditedFleet(folder))[0]).toEqual(["agent.pause", "coder", "ok"]);
});

test("records a delivery with a wrong signature before answering its sender", async () => {
  const { fleet, folder, post } = await startWebhookHarness([githubSchedule]);
  const wrong = () => post("coder/issues", "{}", githubHeaders("{}", { key: "a guess" }));
  expect((await wrong()).status).toBe(401);
  const refused = ["delivery.receive", "coder/issues", "refused"];
  expect((await startAuditedFleet(folder))[0]).toEqual(refused);
  for (let guess = 0; guess < 40; guess += 1) await wrong();
  expect((await post("nobody/issues", "{}", githubHeaders("{}"))).status).toBe(404);
  const { records } = await fleet.audit.list({ action: "delivery.receive", limit: 10 });
  expect(records).toMatchObject([
    { identity: "anonymous", origin: "127.0.0.1", error: "signature_wrong" },
  ]);
  await fleet.shutdown({ drainMs: 0 });
  const state = await new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
  const kept = await state.audit.list({ action: "delivery.receive", limit: 10 });
  await state.close();
  expect(kept.records.map(({ details }) => details)).toEqual([{ attempts: 40 }, { attempts: 1 }]);
});

test("records a wrong token before answering its sender", async () => {
  const harness = await startHttpHarness();
  const { status } = await harness.send("GET", "/v1/status", { headers: bearer("wrong") });
  expect(status).toBe(401);
  expect(await startAuditedFleet(harness.folder)).toEqual([["token.use", null, "refused"]]);
});
