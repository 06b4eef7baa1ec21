import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cookieOf, followLoginLink, readAccess, sendRequest } from "../server/http-harness.ts";
import { startCliHarness, waitUntil } from "./cli-harness.ts";
import { startRunningFleet } from "./running-fleet.ts";

const link = /http:\/\/127\.0\.0\.1:(\d+)\/login#[\w-]{43}/;

test("prints a sign-in link with open and a program token with token", async () => {
  const harness = await startRunningFleet();
  const opened = await harness.run("open", "--print");
  const [url = "", digits = ""] = link.exec(opened.stdout) ?? [];
  const port = Number(digits);
  const send = (method: string, path: string, more?: object) =>
    sendRequest(port, method, path, more);
  const cookie = cookieOf(await followLoginLink(send, port, url));
  expect(await readAccess(send, { cookie })).toMatchObject({ scope: "admin" });

  const wall = await harness.json<{ url: string }>("open", "--read-only");
  const readCookie = cookieOf(await followLoginLink(send, port, wall.url));
  expect(await readAccess(send, { cookie: readCookie })).toMatchObject({ scope: "read" });

  for (const [args, scope] of [
    [["token", "show"], "admin"],
    [["token", "show", "--read-only"], "read"],
  ] as const) {
    const token = (await harness.run(...args)).stdout.trim();
    expect(await readAccess(send, { authorization: `Bearer ${token}` })).toEqual({
      identity: `token:${scope}`,
      scope,
      agents: null,
    });
  }
  expect(statSync(join(harness.folder, ".herdctl/token")).mode & 0o777).toBe(0o600);
  const { url: reportedUrl } = (await harness.withControl((fleet) => fleet.status())).fleet;
  expect(reportedUrl).toBe(`http://127.0.0.1:${port}`);
});

test("prints a link when start runs in a terminal, and otherwise the command without a code", async () => {
  const harness = await startCliHarness();
  const { code, screen } = await harness.inTerminal(["start"], [{ when: "/login#", type: "\x03" }]);
  expect(code).toBe(0);
  expect(screen).toMatch(link);

  const { child, exited } = harness.start("start");
  let output = "";
  child.stdout?.on("data", (text) => {
    output += text;
  });
  await waitUntil(() => output.includes("sign in with `herdctl open`"));
  child.kill("SIGTERM");
  expect((await exited).stdout).not.toContain("/login#");
});

test("reports that there is nothing to open without a fleet, and no token before its first start", async () => {
  const harness = await startCliHarness();
  const opened = await harness.run("open");
  expect([opened.code, opened.stderr]).toEqual([
    3,
    expect.stringContaining("the fleet is not running"),
  ]);
  const token = await harness.run("token", "show");
  expect([token.code, token.stderr]).toEqual([2, expect.stringContaining("no token yet")]);
});

test("passes the reason of a denial to the agent", async () => {
  const tool = { tools: [{ name: "Bash", input: { command: "touch x" } }] };
  const harness = await startRunningFleet({ rules: [{ replies: [tool, "I see."] }] });
  const id = await harness.triggerJob("asks", "touch it");
  const asked = await waitUntil(
    async () => (await harness.withControl((fleet) => fleet.approvals.list()))[0],
  );
  const denied = await harness.json<{ reason: string }>(
    ...["approvals", "deny", asked.id, "--reason", "not on a Friday"],
  );
  expect(denied.reason).toBe("not on a Friday");
  await harness.waitForJob(id);
  const request = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
  expect(request).toContain("A person denied this: not on a Friday");
});

test("forks a session from a message by command and by API", async () => {
  const harness = await startRunningFleet({
    rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }],
  });
  const first = await harness.triggerJob("cli", "first");
  const { session_id } = await harness.waitForJob(first);
  const at = await harness.withControl(async (fleet) => {
    for await (const { message } of fleet.jobs.output(first))
      if (message.type === "assistant") return String(message.uuid);
    return "";
  });
  await harness.waitForJob(
    (await harness.withControl((fleet) => fleet.sessions.resume(first, "second"))).job.id,
  );
  const typed = await harness.trigger("cli", "-p", "third", "--fork", first, "--at", at);
  const called = await harness.withControl((fleet) =>
    fleet.sessions.fork(session_id ?? "", "fourth", { forkPoint: at }),
  );
  expect(typed).toMatchObject({ forked_from: session_id, fork_point: at });
  expect(await harness.waitForJob(called.job.id)).toMatchObject({
    fork_point: at,
    status: "completed",
  });
  for (const entry of harness.rehearsal.ledger.main.slice(-2)) {
    const asked = JSON.stringify(entry.body);
    expect([asked.includes("One."), asked.includes("Two.")]).toEqual([true, false]);
  }
});
