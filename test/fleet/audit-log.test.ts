import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AuditLogWriter } from "../../packages/core/src/fleet/audit-log-writer.ts";
import { verifyAudit } from "../../packages/core/src/store/sql/audit-store.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { bearer, type HttpHarness, startHttpHarness } from "../server/http-harness.ts";
import { openStores } from "../store/test-stores.ts";

async function recordsOf({ fleet }: HttpHarness) {
  const { records } = await fleet.audit.list({ limit: 1000 });
  return records.reverse();
}

const shortRecords = (records: Awaited<ReturnType<typeof recordsOf>>) =>
  records.map(({ identity, origin, action, target, outcome }) => [
    identity,
    origin,
    action,
    target,
    outcome,
  ]);

test("records who did what from where, whatever name the caller sends", async () => {
  const harness = await startHttpHarness();
  const user = `user:${(await import("node:os")).userInfo().username}`;
  const { secret } = await harness.fleet.tokens.create({ name: "ci", scope: "trigger" });
  const send = (path: string, body: object, token = harness.token) =>
    harness.send("POST", path, { headers: bearer(token), body: JSON.stringify(body) });
  const { job } = JSON.parse((await send("/v1/jobs", { agent: "coder" }, secret)).text);
  await send("/v1/jobs", { agent: "nobody" }, secret);
  await send(`/v1/jobs/${job.id}/cancel`, {});
  await send("/v1/agents/coder/pause", {});
  await send("/v1/agents/coder/resume", {});
  await send("/v1/budget/raise", { usd: 5 });
  await send("/v1/approvals/approval-none/answer", { decision: "allow", note: "the boss" });
  await harness.send("DELETE", "/v1/tokens/ci", { headers: bearer(harness.token) });
  const [ip, admin] = ["127.0.0.1", "token:admin"];
  expect(shortRecords(await recordsOf(harness))).toEqual([
    [user, "process", "token.create", "ci", "ok"],
    ["token:ci", ip, "job.trigger", job.id, "ok"],
    ["token:ci", ip, "job.trigger", null, "refused"],
    [admin, ip, "job.cancel", job.id, "ok"],
    [admin, ip, "agent.pause", "coder", "ok"],
    [admin, ip, "agent.resume", "coder", "ok"],
    [admin, ip, "budget.raise", null, "ok"],
    [admin, ip, "approval.answer", "approval-none", "refused"],
    [admin, ip, "token.revoke", "ci", "ok"],
  ]);
  const [answer] = (await harness.fleet.audit.list({ action: "approval.answer", limit: 1 }))
    .records;
  expect(answer?.details).toEqual({ note: "the boss" });
  expect(JSON.stringify(await recordsOf(harness))).not.toContain(secret);
});

test("records sign-ins, sign-outs and failed attempts, but never a code", async () => {
  const harness = await startHttpHarness();
  const cookie = await harness.signIn();
  const origin = `http://127.0.0.1:${harness.port}`;
  await harness.send("POST", "/login", { headers: { origin }, body: '{"code":"wrong"}' });
  await harness.send("GET", "/v1/status", { headers: bearer("wrong") });
  await harness.send("POST", "/logout", { headers: { cookie, origin } });
  await harness.fleet.logins.endAll();
  const records = await recordsOf(harness);
  const login = expect.stringMatching(/^login:[0-9a-f]{8}$/);
  expect(shortRecords(records)).toEqual([
    [login, "127.0.0.1", "login.create", null, "ok"],
    ["anonymous", "127.0.0.1", "login.create", null, "refused"],
    ["anonymous", "127.0.0.1", "token.use", null, "refused"],
    [login, "127.0.0.1", "login.end", login, "ok"],
    [expect.stringMatching(/^user:/), "process", "login.end_all", null, "ok"],
  ]);
  expect(records[0]?.details).toEqual({ scope: "admin", link_created_by: "user:test" });
});

test("records the start and stop of the fleet and each active configuration in one chain", async () => {
  const harness = await startHttpHarness();
  await harness.fleet.start();
  await harness.fleet.reload();
  const file = join(harness.folder, "herdctl.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n# changed\n`);
  await harness.fleet.reload();
  await harness.server.stop();
  await harness.fleet.shutdown({ drainMs: 0 });
  const state = await new StateManager(join(harness.folder, ".herdctl")).open({ readOnly: true });
  const { records } = await state.audit.list({ limit: 100 });
  const actions = records.map(({ action }) => action).reverse();
  expect(actions.filter((action) => action === "config.change")).toHaveLength(2);
  expect(actions[0]).toBe("fleet.start");
  expect(actions).toContain("fleet.reload");
  expect(actions.at(-1)).toBe("fleet.stop");
  expect((await verifyAudit(state.audit)).problems).toEqual([]);
  await state.close();
});

test("summarizes many failures from many addresses in a few records with counts", async () => {
  const { audit: store } = await openStores();
  const audit = new AuditLogWriter({
    store: () => store,
    reportError: (message) => expect.fail(message),
  });
  for (let round = 0; round < 50; round += 1) {
    for (let address = 0; address < 100; address += 1) {
      const origin = `192.0.2.${address}`;
      audit.recordFailedAuthentication({ action: "token.use", origin, error: "token_wrong" });
    }
  }
  await audit.flush();
  const { records } = await store.list({ limit: 1000 });
  expect(records.length).toBeLessThan(50);
  const attempts = records.map(({ details }) => Number(details.attempts));
  expect(attempts.reduce((sum, count) => sum + count, 0)).toBe(5000);
});
