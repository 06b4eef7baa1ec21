import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Audit } from "../../packages/core/src/fleet/audit.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { verifyAudit } from "../../packages/core/src/state/verify-audit.ts";
import { bearer, type PortStage, portStage } from "../server/port-stage.ts";
import { newStores } from "../state/support.ts";

async function recordsOf({ fleet }: PortStage) {
  const { records } = await fleet.audit({ limit: 1000 });
  return records.reverse();
}

const shortOf = (records: Awaited<ReturnType<typeof recordsOf>>) =>
  records.map(({ identity, origin, action, target, outcome }) => [
    identity,
    origin,
    action,
    target,
    outcome,
  ]);

test("records who did what from where, whatever the caller calls itself", async () => {
  const on = await portStage();
  const user = `user:${(await import("node:os")).userInfo().username}`;
  const { secret } = await on.fleet.createToken({ name: "ci", scope: "trigger" });
  const send = (path: string, body: object, token = on.token) =>
    on.send("POST", path, { headers: bearer(token), body: JSON.stringify(body) });
  const { job } = JSON.parse((await send("/v1/jobs", { agent: "coder" }, secret)).text);
  await send("/v1/jobs", { agent: "nobody" }, secret);
  await send(`/v1/jobs/${job.id}/cancel`, {});
  await send("/v1/agents/coder/pause", {});
  await send("/v1/agents/coder/resume", {});
  await send("/v1/budget/raise", { usd: 5 });
  await send("/v1/approvals/approval-none/answer", { word: "allow", by: "the boss" });
  await send("/v1/tokens/ci/revoke", {});
  const [ip, admin] = ["127.0.0.1", "token:admin"];
  expect(shortOf(await recordsOf(on))).toEqual([
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
  const [answer] = (await on.fleet.audit({ action: "approval.answer", limit: 1 })).records;
  expect(answer?.details).toEqual({ note: "the boss" });
  expect(JSON.stringify(await recordsOf(on))).not.toContain(secret);
});

test("records sign-ins, sign-outs and what failed, and never a code", async () => {
  const on = await portStage();
  const cookie = await on.signIn();
  const origin = `http://127.0.0.1:${on.port}`;
  await on.send("POST", "/login", { headers: { origin }, body: '{"code":"wrong"}' });
  await on.send("GET", "/v1/status", { headers: bearer("wrong") });
  await on.send("POST", "/logout", { headers: { cookie, origin } });
  await on.fleet.endAllLogins();
  const records = await recordsOf(on);
  const login = expect.stringMatching(/^login:[0-9a-f]{8}$/);
  expect(shortOf(records)).toEqual([
    [login, "127.0.0.1", "login.create", null, "ok"],
    ["anonymous", "127.0.0.1", "login.create", null, "refused"],
    ["anonymous", "127.0.0.1", "token.use", null, "refused"],
    [login, "127.0.0.1", "login.end", login, "ok"],
    [expect.stringMatching(/^user:/), "process", "login.end_all", null, "ok"],
  ]);
  expect(records[0]?.details).toEqual({ scope: "admin", link_by: "user:test" });
});

test("records the start and end of the fleet and each configuration in force, in one chain", async () => {
  const on = await portStage();
  await on.fleet.start();
  await on.fleet.reload();
  const file = join(on.folder, "herdctl.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n# changed\n`);
  await on.fleet.reload();
  await on.server.stop();
  await on.fleet.stop({ drainMs: 0 });
  const state = await new StateManager(join(on.folder, ".herdctl")).open({ readOnly: true });
  const { records } = await state.audit.list({ limit: 100 });
  const actions = records.map(({ action }) => action).reverse();
  expect(actions.filter((action) => action === "config.change")).toHaveLength(2);
  expect(actions[0]).toBe("fleet.start");
  expect(actions).toContain("fleet.reload");
  expect(actions.at(-1)).toBe("fleet.stop");
  expect((await verifyAudit(state.audit)).problems).toEqual([]);
  await state.close();
});

test("many failures from many addresses leave a few records with their counts", async () => {
  const { audit: store } = await newStores();
  const audit = new Audit({ store: () => store, trouble: (message) => expect.fail(message) });
  for (let round = 0; round < 50; round += 1) {
    for (let address = 0; address < 100; address += 1) {
      const origin = `192.0.2.${address}`;
      audit.failed({ action: "token.use", origin, error: "token_wrong" });
    }
  }
  await audit.flush();
  const { records } = await store.list({ limit: 1000 });
  expect(records.length).toBeLessThan(50);
  const attempts = records.map(({ details }) => Number(details.attempts));
  expect(attempts.reduce((sum, count) => sum + count, 0)).toBe(5000);
});
