import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveSessionInfo } from "@herdctl/core";
import { expect, test } from "vitest";
import { claudeBinary } from "../support/claude.ts";
import { type FleetStage, fleetStage, until } from "./fleet-stage.ts";
import { runningFleet } from "./fleet-stage-running.ts";

test("sessions are listed with their agent, place, cost and whether they can be gone on with", async () => {
  const on = await fleetStage();
  const ofCli = await on.trigger("cli", "-p", "hello");
  const ofSdk = await on.trigger("sdk", "-p", "hello");
  const { sessions } = JSON.parse((await on.run("sessions", "--json")).stdout);
  expect(sessions).toMatchObject([
    { session_id: ofSdk.session_id, agent: "sdk", place: "sdk", obstacle: null, expired: false },
    { session_id: ofCli.session_id, agent: "cli", place: "cli", cwd: on.workspace, turns: 1 },
  ]);
  const table = await on.run("sessions", "cli");
  expect(table.stdout).toMatch(
    new RegExp(`^${ofCli.session_id} +cli +cli +\\d+ s +1 +\\$[\\d.]+ +yes`, "m"),
  );
  expect(table.stdout).not.toContain(ofSdk.session_id);
});

test("the command to go on by hand has the right folder, home and session", async () => {
  const on = await fleetStage();
  const job = await on.trigger("cli", "-p", "hello");
  for (const id of [job.id, job.session_id ?? "", job.session_id?.slice(0, 8) ?? ""]) {
    const run = await on.run("sessions", "resume", id, "--json");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual({
      program: claudeBinary("325"),
      args: ["--resume", job.session_id],
      cwd: on.workspace,
      config_dir: on.configDir,
    });
  }
  const { stdout } = await on.run("sessions", "resume", job.id, "--print");
  expect(stdout).toBe(
    `cd ${on.workspace} && CLAUDE_CONFIG_DIR=${on.configDir} ${claudeBinary("325")} --resume ${job.session_id}\n`,
  );
});

async function refusal(
  on: FleetStage,
  id: string,
): Promise<{ code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await on.run("sessions", "resume", id);
  expect(stdout).toBe("");
  return { code, stderr };
}

test("what cannot be gone on with is refused with the reason", async () => {
  const on = await fleetStage();
  const job = await on.trigger("cli", "-p", "hello");
  const id = job.session_id ?? "";
  expect(await refusal(on, "nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no session nothing/),
  });
  renameSync(on.workspace, `${on.workspace}-away`);
  expect(await refusal(on, id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/the folder of session .* is gone/),
  });
  renameSync(`${on.workspace}-away`, on.workspace);
  rmSync(join(on.configDir, "projects"), { recursive: true });
  expect(await refusal(on, job.id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/transcript of session .* is gone/),
  });
  const place = { agent: "cli", place: "docker" as const, cwd: "/workspace" };
  await saveSessionInfo(join(on.folder, ".herdctl"), { session_id: "boxed", ...place });
  expect(await refusal(on, "boxed")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/lives in a container[\s\S]*herdctl trigger cli --resume boxed/),
  });
});

test("a session that a job is writing to is left alone", async () => {
  const on = await fleetStage({
    rules: [{ match: { prompt: "slowly" }, reply: { text: "Done.", delay: { first: "3s" } } }],
  });
  const first = await on.trigger("cli", "-p", "hello");
  const running = on.start("trigger", "cli", "--resume", first.id, "-p", "slowly");
  await until(() => on.rehearsal.ledger.main.length > 1);
  expect(await refusal(on, first.id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/is writing to session[\s\S]*--fork/),
  });
  expect((await running.ended).code).toBe(0);
});

/** What a person has answered long ago: colours, trust in the folder, the key. */
function settleIn(on: FleetStage): void {
  const settings = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [on.env.ANTHROPIC_API_KEY?.slice(-20)], rejected: [] },
    projects: { [on.workspace]: { hasTrustDialogAccepted: true } },
  };
  mkdirSync(on.configDir, { recursive: true });
  writeFileSync(join(on.configDir, ".claude.json"), JSON.stringify(settings));
}

test("a person goes on with the conversation in Claude Code itself", async () => {
  const on = await fleetStage({
    rules: [
      { match: { prompt: "by hand" }, reply: "Answered by hand." },
      { match: { prompt: "by itself" }, reply: "Answered by itself." },
    ],
  });
  const job = await on.trigger("sdk", "-p", "asked by itself");
  settleIn(on);
  const { code, screen } = await on.inTerminal(
    ["sessions", "resume", job.id],
    [
      { when: "Answered", type: "asked by hand" },
      { when: "hand", type: "\r" },
      { when: "Answered", type: "\x03" },
      { when: "again", type: "\x03" },
    ],
  );
  expect(code, screen).toBe(0);
  const conversation = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
  expect(conversation).toContain("asked by itself");
  expect(conversation).toContain("asked by hand");
  expect(on.rehearsal.ledger.main.at(-1)?.sessionId).toBe(job.session_id);
});

test("a fleet that runs is asked for its sessions", async () => {
  const on = await runningFleet();
  const { session_id } = await on.trigger("cli", "-p", "hello");
  const { sessions } = await on.json<{ sessions: object[] }>("sessions", "cli");
  expect(sessions).toMatchObject([{ session_id, agent: "cli", obstacle: null }]);
  expect(sessions).toEqual(await on.ask((fleet) => fleet.sessions()));
});
