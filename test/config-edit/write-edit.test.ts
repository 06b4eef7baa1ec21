import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scopes } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { bearer, startHttpHarness } from "../server/http-harness.ts";

async function startEditing() {
  const harness = await startHttpHarness();
  const file = join(harness.folder, "herdctl.yaml");
  const post = async (path: string, body: unknown, token = harness.token) => {
    const headers = bearer(token);
    const answer = await harness.send("POST", path, { headers, body: JSON.stringify(body) });
    return { status: answer.status, body: JSON.parse(answer.text) };
  };
  const edit = {
    agent: "coder",
    changes: [{ path: ["description"], value: "Writes code" }] as {
      path: string[];
      value: unknown;
    }[],
  };
  const preview = () => post("/v1/config/edit/preview", edit);
  return { ...harness, file, post, edit, preview, read: () => readFileSync(file, "utf8") };
}

test("writes an edit that was previewed and reloads", async () => {
  const { fleet, edit, post, preview, read } = await startEditing();
  const { body } = await preview();
  expect(body.problems).toEqual([]);
  const { fingerprint } = body;
  expect((await post("/v1/config/edit", { ...edit, fingerprint })).status).toBe(200);
  expect(read()).toContain("description: Writes code");
  expect((await fleet.agents.get("coder"))?.description).toBe("Writes code");
});

test("refuses an edit of a file that has changed since the preview", async () => {
  const { edit, file, post, preview, read } = await startEditing();
  const { fingerprint } = (await preview()).body;
  const changed = `${read()}# Someone else wrote this.\n`;
  writeFileSync(file, changed);
  const { status, body } = await post("/v1/config/edit", { ...edit, fingerprint });
  expect([status, body.errors?.[0]?.code]).toEqual([409, "file_changed"]);
  expect(read()).toBe(changed);
});

test("writes nothing if there are problems", async () => {
  const { edit, post, preview, read } = await startEditing();
  const before = read();
  edit.changes = [{ path: ["hooks", "after_run"], value: [{ type: "shell", command: "id" }] }];
  const { fingerprint, problems } = (await preview()).body;
  expect(problems).toHaveLength(1);
  const { status, body } = await post("/v1/config/edit", { ...edit, fingerprint });
  expect([status, body.errors?.[0]?.code]).toEqual([422, "config_invalid"]);
  expect(read()).toBe(before);
});

test("lets only an admin edit", async () => {
  const { edit, fleet, post, preview, read } = await startEditing();
  const before = read();
  const { fingerprint } = (await preview()).body;
  for (const scope of scopes.filter((one) => one !== "admin")) {
    const { secret } = await fleet.tokens.create({ name: `a-${scope}`, scope });
    for (const path of ["/v1/config/edit/preview", "/v1/config/edit"]) {
      const { status } = await post(path, { ...edit, fingerprint }, secret);
      expect([scope, path, status]).toEqual([scope, path, 403]);
    }
  }
  expect(read()).toBe(before);
});
