import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Job, StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { obedientStage, obey } from "../support/runtime.ts";
import { chainOver, circle, delegate, member } from "./delegating.ts";

const manual = { trigger: "manual" as const, agent: "a" };
const mcpServer = resolve(import.meta.dirname, "../runtime/programs/mcp-server.mjs");

test("a chain is shown as a tree, and a job with its place in it", async () => {
  const on = await obedientStage();
  const file = fleetFile(on, circle("cli", false));
  const fleet = await fleetProgram(on, file);
  const { job } = await fleet.control.trigger({ ...manual, prompt: "Begin." });
  const [a, b, c, refused] = await chainOver(fleet.control, job.id);
  const cwd = dirname(file);

  const shown = await herdctl(["chain", c?.id ?? ""], { cwd });
  const lines = shown.stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, Math.max(line.indexOf("job-"), 0)).trimEnd())).toEqual([
    "a",
    "└─ b",
    "   └─ c",
    "      └─ a",
    "",
  ]);
  expect(lines[3]).toContain("– chain_limit");
  expect(lines[4]).toMatch(/^3 jobs, \$0\.\d+$/);

  const asJson = await herdctl(["chain", "--json", job.id], { cwd });
  const { jobs } = JSON.parse(asJson.stdout) as { jobs: Job[] };
  expect(jobs.map(({ id }) => id)).toEqual([a, b, c, refused].map((one) => one?.id));

  const page = await herdctl(["job", c?.id ?? ""], { cwd });
  expect(page.stdout).toContain(`a → b → c (from ${b?.id}, of ${job.id})`);
  await fleet.stop();
});

test("`herdctl cancel` of the first ends what others still do for it", async () => {
  const on = await obedientStage();
  const patient = obey(["Bash", { command: "sleep 600" }]);
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b", told: patient })];
  const file = fleetFile(on, agents.join("\n"));
  const fleet = await fleetProgram(on, file);
  const prompt = delegate({ agent: "b", prompt: "Go." });
  const { job } = await fleet.control.trigger({ ...manual, prompt });
  expect(await fleet.control.wait(job.id)).toMatchObject({ status: "completed" });
  await until("the other to run", async () => {
    const [, other] = await fleet.control.chain(job.id);
    return other?.status === "running";
  });
  // Though it is over itself.
  const { code, stdout } = await herdctl(["cancel", job.id], { cwd: dirname(file) });
  expect(code).toBe(0);
  const chain = await chainOver(fleet.control, job.id);
  expect(chain.map(({ outcome }) => outcome)).toMatchObject([
    { code: "success" },
    { code: "cancelled" },
  ]);
  for (const { id } of chain) expect(stdout).toContain(id);
  await fleet.stop();
});

test("a fleet that was killed while it cancelled a chain leaves nothing of it to the next", async () => {
  const on = await obedientStage();
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b" })];
  const file = fleetFile(on, agents.join("\n"));
  const first = await fleetProgram(on, file);
  await first.control.pauseAgent("b");
  const prompt = delegate({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await first.control.trigger({ ...manual, prompt });
  await until(
    "the other to be there",
    async () => (await first.control.chain(job.id)).length === 2,
  );
  await first.kill();
  const state = await new StateManager(join(dirname(file), ".herdctl")).open();
  const outcome = { code: "cancelled" as const, message: "m", hint: "h" };
  await state.jobs.endAttempt(
    job.id,
    1,
    { outcome_code: "cancelled", session_id: null, cost_usd: null },
    { status: "cancelled", outcome },
  );
  const runner = (await state.jobs.get(job.id))?.runner?.pid;
  await state.close();
  if (runner !== undefined) process.kill(runner, "SIGTERM");

  const second = await fleetProgram(on, file);
  const [, other] = await chainOver(second.control, job.id);
  expect(other).toMatchObject({ agent: "b", status: "cancelled", attempts: 0 });
  await second.stop();
});

test("an agent that used a foreign tool has read text from outside, and so has who took its word", async () => {
  const on = await obedientStage();
  const shout = obey(["mcp__other__shout", { text: "hello" }]);
  const server = `mcp_servers: { other: { command: node, args: ["${mcpServer}"] } }`;
  const agents = [
    member({ name: "a", may: ["b", "c"] }),
    member({ name: "b", told: shout, more: server }),
    member({ name: "c" }),
  ];
  const fleet = await startFleet(on, fleetFile(on, agents.join("\n")));
  const wishes = ["b", "c"].map((agent) => delegate({ agent, prompt: "Go.", wait: true }));
  const { job } = await fleet.trigger({ ...manual, prompt: wishes.join("\n\n") });
  const [a, b, c] = await chainOver(fleet, job.id);
  // The first was trusted when it was handed on; what follows after its answer is not.
  expect(b?.prompt).toBe("Go.");
  expect(c?.prompt).toMatch(/<untrusted-data/);
  expect([a?.untrusted, c?.untrusted]).toEqual([true, true]);
});

test("two agents that would wait for each other: the second is told so, and both come to an end", async () => {
  const on = await obedientStage();
  const patient = obey(["Bash", { command: "while [ ! -e go ]; do sleep 0.05; done" }]);
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b", may: ["a"] })];
  const fleet = await startFleet(on, fleetFile(on, agents.join("\n")));
  const pass = (agent: string) => `${patient}\n\n${delegate({ agent, prompt: "Go.", wait: true })}`;
  const first = await fleet.trigger({ ...manual, prompt: pass("b") });
  const second = await fleet.trigger({ ...manual, agent: "b", prompt: pass("a") });
  await until("both to run", async () => (await fleet.status()).fleet.running === 2);
  writeFileSync(join(on.workspace, "go"), "");
  const chains = [
    ...(await chainOver(fleet, first.job.id)),
    ...(await chainOver(fleet, second.job.id)),
  ];
  const refused = chains.filter(({ status }) => status === "skipped");
  expect(refused).toHaveLength(1);
  expect(refused[0]?.outcome?.message).toMatch(/could never begin while `[ab]` waits for it/);
  const others = chains.filter(({ status }) => status !== "skipped");
  expect(others.map(({ outcome }) => outcome?.code)).toEqual(Array(3).fill("success"));
});

test("a fleet for one job also runs what is handed on from it", async () => {
  const on = await obedientStage();
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b" })];
  const file = fleetFile(on, agents.join("\n"));
  const alone = { onlyOwn: true, unattended: true };
  const fleet = await startFleet(on, file, alone);
  const prompt = delegate({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await fleet.trigger({ ...manual, prompt });
  const chain = await chainOver(fleet, job.id);
  expect(chain.map(({ outcome }) => outcome?.code)).toEqual(["success", "success"]);
});
