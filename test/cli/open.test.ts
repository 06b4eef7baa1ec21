import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { accessOf, cookieOf, follow, sendTo } from "../server/port-stage.ts";
import { fleetStage, until } from "./fleet-stage.ts";
import { runningFleet } from "./fleet-stage-running.ts";

const link = /http:\/\/127\.0\.0\.1:(\d+)\/login#[\w-]{43}/;

test("open prints a link that signs in, token what programs sign in with", async () => {
  const on = await runningFleet();
  const opened = await on.run("open", "--print");
  const [url = "", digits = ""] = link.exec(opened.stdout) ?? [];
  const port = Number(digits);
  const send = (method: string, path: string, more?: object) => sendTo(port, method, path, more);
  const cookie = cookieOf(await follow(send, port, url));
  expect(await accessOf(send, { cookie })).toMatchObject({ scope: "admin" });

  const wall = await on.json<{ url: string }>("open", "--read-only");
  const looking = cookieOf(await follow(send, port, wall.url));
  expect(await accessOf(send, { cookie: looking })).toMatchObject({ scope: "read" });

  for (const [args, scope] of [
    [["token", "show"], "admin"],
    [["token", "show", "--read-only"], "read"],
  ] as const) {
    const token = (await on.run(...args)).stdout.trim();
    expect(await accessOf(send, { authorization: `Bearer ${token}` })).toEqual({
      identity: `token:${scope}`,
      scope,
      agents: null,
    });
  }
  expect(statSync(join(on.folder, ".herdctl/token")).mode & 0o777).toBe(0o600);
  const { url: told } = (await on.ask((fleet) => fleet.status())).fleet;
  expect(told).toBe(`http://127.0.0.1:${port}`);
});

test("start shows a link in a terminal; elsewhere it names the command and shows no code", async () => {
  const on = await fleetStage();
  const { code, screen } = await on.inTerminal(["start"], [{ when: "/login#", type: "\x03" }]);
  expect(code).toBe(0);
  expect(screen).toMatch(link);

  const { child, ended } = on.start("start");
  let said = "";
  child.stdout?.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes("open it in a browser: herdctl open"));
  child.kill("SIGTERM");
  expect((await ended).stdout).not.toContain("/login#");
});

test("without a fleet there is nothing to open, and before its first start no token", async () => {
  const on = await fleetStage();
  const opened = await on.run("open");
  expect([opened.code, opened.stderr]).toEqual([3, expect.stringContaining("no fleet runs here")]);
  const token = await on.run("token", "show");
  expect([token.code, token.stderr]).toEqual([2, expect.stringContaining("no token yet")]);
});

test("a denial with a reason is told to the agent", async () => {
  const tool = { tools: [{ name: "Bash", input: { command: "touch x" } }] };
  const on = await runningFleet({ rules: [{ replies: [tool, "I see."] }] });
  const id = await on.give("asks", "touch it");
  const asked = await until(async () => (await on.ask((fleet) => fleet.approvals()))[0]);
  const denied = await on.json<{ reason: string }>(
    ...["approvals", "deny", asked.id, "--reason", "not on a Friday"],
  );
  expect(denied.reason).toBe("not on a Friday");
  await on.ended(id);
  const told = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
  expect(told).toContain("A person denied this: not on a Friday");
});

test("a fork from a message is a command, and a call of the API", async () => {
  const on = await runningFleet({
    rules: [{ match: { prompt: "second" }, reply: "Two." }, { reply: "One." }],
  });
  const first = await on.give("cli", "first");
  const { session_id } = await on.ended(first);
  const at = await on.ask(async (fleet) => {
    for await (const { message } of fleet.output(first))
      if (message.type === "assistant") return String(message.uuid);
    return "";
  });
  await on.ended((await on.ask((fleet) => fleet.resume(first, "second"))).job.id);
  const typed = await on.trigger("cli", "-p", "third", "--fork", first, "--at", at);
  const called = await on.ask((fleet) => fleet.fork(session_id ?? "", "fourth", at));
  expect(typed).toMatchObject({ forked_from: session_id, fork_point: at });
  expect(await on.ended(called.job.id)).toMatchObject({ fork_point: at, status: "completed" });
  for (const entry of on.rehearsal.ledger.main.slice(-2)) {
    const asked = JSON.stringify(entry.body);
    expect([asked.includes("One."), asked.includes("Two.")]).toEqual([true, false]);
  }
});
