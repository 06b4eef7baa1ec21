import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveSessionInfo } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { type CliHarness, startCliHarness, waitUntil } from "./cli-harness.ts";
import { startRunningFleet } from "./running-fleet.ts";

test("lists sessions with agent, place, cost and whether they can be resumed", async () => {
  const harness = await startCliHarness();
  const ofCli = await harness.trigger("cli", "-p", "hello");
  const ofSdk = await harness.trigger("sdk", "-p", "hello");
  const { sessions } = JSON.parse((await harness.run("sessions", "--json")).stdout);
  expect(sessions).toMatchObject([
    {
      session_id: ofSdk.session_id,
      agent: "sdk",
      session_home: "sdk",
      obstacle: null,
      expired: false,
    },
    {
      session_id: ofCli.session_id,
      agent: "cli",
      session_home: "cli",
      cwd: harness.workspace,
      turns: 1,
    },
  ]);
  const table = await harness.run("sessions", "cli");
  expect(table.stdout).toMatch(
    new RegExp(`^${ofCli.session_id} +cli +cli +\\d+ s +1 +\\$[\\d.]+ +yes`, "m"),
  );
  expect(table.stdout).not.toContain(ofSdk.session_id);
});

test("prints the resume command with the right folder, home and session", async () => {
  const harness = await startCliHarness();
  const job = await harness.trigger("cli", "-p", "hello");
  for (const id of [job.id, job.session_id ?? "", job.session_id?.slice(0, 8) ?? ""]) {
    const run = await harness.run("sessions", "resume", id, "--json");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual({
      program: claudeBinary("325"),
      args: ["--resume", job.session_id],
      cwd: harness.workspace,
      config_dir: harness.configDir,
    });
  }
  const { stdout } = await harness.run("sessions", "resume", job.id, "--print");
  expect(stdout).toBe(
    `cd ${harness.workspace} && CLAUDE_CONFIG_DIR=${harness.configDir} ${claudeBinary("325")} --resume ${job.session_id}\n`,
  );
});

async function refusal(
  harness: CliHarness,
  id: string,
): Promise<{ code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await harness.run("sessions", "resume", id);
  expect(stdout).toBe("");
  return { code, stderr };
}

test("refuses to resume an unsuitable session and gives the reason", async () => {
  const harness = await startCliHarness();
  const job = await harness.trigger("cli", "-p", "hello");
  const id = job.session_id ?? "";
  expect(await refusal(harness, "nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no session nothing/),
  });
  renameSync(harness.workspace, `${harness.workspace}-away`);
  expect(await refusal(harness, id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/the folder of session .* is gone/),
  });
  renameSync(`${harness.workspace}-away`, harness.workspace);
  rmSync(join(harness.configDir, "projects"), { recursive: true });
  expect(await refusal(harness, job.id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/transcript of session .* is gone/),
  });
  const place = { agent: "cli", session_home: "docker" as const, cwd: "/workspace" };
  await saveSessionInfo(join(harness.folder, ".herdctl"), { session_id: "boxed", ...place });
  expect(await refusal(harness, "boxed")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/is in a container[\s\S]*herdctl trigger cli --resume boxed/),
  });
});

test("refuses a session that a job is writing to", async () => {
  const harness = await startCliHarness({
    rules: [{ match: { prompt: "slowly" }, reply: { text: "Done.", delay: { first: "12s" } } }],
  });
  const first = await harness.trigger("cli", "-p", "hello");
  const running = harness.start("trigger", "cli", "--resume", first.id, "-p", "slowly");
  await waitUntil(() => harness.rehearsal.ledger.main.length > 1);
  expect(await refusal(harness, first.id)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/is using session[\s\S]*--fork/),
  });
  expect((await running.exited).code).toBe(0);
});

/** The settings of an earlier interactive use: colours, trust in the folder, the key. */
function writeUserSettings(harness: CliHarness): void {
  const settings = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [harness.env.ANTHROPIC_API_KEY?.slice(-20)], rejected: [] },
    projects: { [harness.workspace]: { hasTrustDialogAccepted: true } },
  };
  mkdirSync(harness.configDir, { recursive: true });
  writeFileSync(join(harness.configDir, ".claude.json"), JSON.stringify(settings));
}

test("resumes the conversation in Claude Code itself", async () => {
  const harness = await startCliHarness({
    rules: [
      { match: { prompt: "by hand" }, reply: "Answered by hand." },
      { match: { prompt: "by itself" }, reply: "Answered by itself." },
    ],
  });
  const job = await harness.trigger("sdk", "-p", "asked by itself");
  writeUserSettings(harness);
  const { code, screen } = await harness.inTerminal(
    ["sessions", "resume", job.id],
    [
      { when: "Answered", type: "asked by hand" },
      { when: "hand", type: "\r" },
      { when: "Answered", type: "\x03" },
      { when: "again", type: "\x03" },
    ],
  );
  expect(code, screen).toBe(0);
  const conversation = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
  expect(conversation).toContain("asked by itself");
  expect(conversation).toContain("asked by hand");
  expect(harness.rehearsal.ledger.main.at(-1)?.sessionId).toBe(job.session_id);
});

test("asks a running fleet for its sessions", async () => {
  const harness = await startRunningFleet();
  const { session_id } = await harness.trigger("cli", "-p", "hello");
  const { sessions } = await harness.json<{ sessions: object[] }>("sessions", "cli");
  expect(sessions).toMatchObject([{ session_id, agent: "cli", obstacle: null }]);
  expect(sessions).toEqual(await harness.withControl((fleet) => fleet.sessions.list()));
});
