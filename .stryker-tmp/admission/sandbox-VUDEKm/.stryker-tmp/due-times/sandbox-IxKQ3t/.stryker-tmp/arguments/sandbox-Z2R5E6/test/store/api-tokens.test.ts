import { expect, test } from "vitest";
import { hashToken, newTokenSecret } from "../../packages/core/src/store/contracts/token-store.ts";
import { queryRows } from "../../packages/core/src/store/sql/sql-program.ts";
import type { AuditEntry } from "../../packages/protocol/src/records/audit.ts";
import { openStores } from "./test-stores.ts";

const audit = (action: AuditEntry["action"]): AuditEntry => ({
  identity: "user:kim",
  origin: "socket",
  action,
  target: "ci",
  outcome: "ok",
  error: null,
  details: {},
});

const token = {
  name: "ci",
  scope: "trigger" as const,
  agents: ["coder"],
  created_at: "2030-01-01T00:00:00.000Z",
  created_by: "user:kim",
  expires_at: null,
  last_used_at: null,
};

const login = (id: string) => ({
  id: id.repeat(24),
  scope: "admin" as const,
  signed_in_at: "2030-01-01T00:00:00.000Z",
  expires_at: "2030-01-31T00:00:00.000Z",
  address: "127.0.0.1",
  user_agent: null,
  link_created_by: "user:kim",
});

test("finds a token by the hash of its secret, which is nowhere in the database", async () => {
  const { tokens, database } = await openStores();
  const secret = newTokenSecret();
  expect(secret).toMatch(/^herd_[\w-]{43}$/);
  await tokens.create(token, hashToken(secret), audit("token.create"));
  expect(await tokens.findByHash(hashToken(secret))).toEqual(token);
  expect(await tokens.findByHash(hashToken(`${secret}x`))).toBeUndefined();
  await tokens.recordUse("ci", new Date("2030-01-02T00:00:00.000Z"));
  expect(await tokens.list()).toEqual([{ ...token, last_used_at: "2030-01-02T00:00:00.000Z" }]);
  const rows = await database.read(() => queryRows("SELECT * FROM access_tokens"));
  expect(JSON.stringify(rows)).not.toContain(secret.slice(5));
});

test("reserves a name until its token is revoked, and audits both", async () => {
  const { tokens, audit: log } = await openStores();
  await tokens.create(token, hashToken("one"), audit("token.create"));
  await expect(tokens.create(token, hashToken("two"), audit("token.create"))).rejects.toMatchObject(
    { code: "token_exists" },
  );
  expect(await tokens.revoke("ci", audit("token.revoke"))).toBe(true);
  expect(await tokens.revoke("ci", audit("token.revoke"))).toBe(false);
  expect(await tokens.findByHash(hashToken("one"))).toBeUndefined();
  const { records } = await log.list({ limit: 10 });
  expect(records.map(({ action }) => action)).toEqual(["token.revoke", "token.create"]);
});

test("keeps a login until it is ended or expires", async () => {
  const { logins, time, audit: log } = await openStores();
  for (const id of ["a", "b", "c"]) await logins.create(login(id), audit("login.create"));
  expect(await logins.revoke("aaaaaaaa", audit("login.end"))).toBe(1);
  expect(await logins.get("a".repeat(24))).toBeUndefined();
  expect(await logins.list()).toEqual([login("b"), login("c")]);
  expect(await logins.revokeAll(audit("login.end_all"))).toBe(2);
  expect((await log.list({ limit: 1 })).records[0]?.details).toEqual({ logins: 2 });
  await logins.create(login("d"), audit("login.create"));
  time.now = Date.parse("2030-01-31T00:00:00.000Z");
  expect(await logins.list()).toEqual([]);
});
