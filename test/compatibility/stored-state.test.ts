import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FleetManager, restoreBackup } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const recordings = join(import.meta.dirname, "recordings");

/** The fleet of `record-state.mjs`, with this machine's `claude`. */
const fleetFile = `version: 1
fleet: { name: shop, max_keep_alive: 0 }
claude_path: ${claudeBinary("325")}
defaults: { working_directory: ./work, permission_mode: bypassPermissions }
agents: [{ name: coder }, { name: paused }]
`;

test.each(readdirSync(recordings))(
  "opens the recorded state %s, and continues its session and its waiting job",
  async (recording) => {
    const { env } = await startHarness({ script: { default: "Done." } });
    const dir = tempFolderWith({ "herdctl.yaml": fleetFile });
    mkdirSync(join(dir, "work"));
    await restoreBackup({ file: join(recordings, recording) }, { dir, environment: env });
    const fleet = new FleetManager({ file: join(dir, "herdctl.yaml"), env });
    onTestFinished(() => fleet.shutdown({ drainMs: 0 }));
    await fleet.start();

    const { jobs } = await fleet.jobs.list();
    expect(jobs.map(({ agent, status, prompt }) => ({ agent, status, prompt }))).toEqual([
      { agent: "paused", status: "pending", prompt: "Wait for me." },
      { agent: "coder", status: "completed", prompt: "Which word?" },
      { agent: "coder", status: "completed", prompt: "Remember the word heron." },
    ]);
    const [waiting, last] = jobs;
    expect(readFileSync(last?.output_file ?? "", "utf8")).toContain('"result"');

    const before = (await fleet.sessions.list()).find(
      ({ session_id }) => session_id === last?.session_id,
    );
    const request = { agent: "coder", prompt: "And now?", resume: last?.id ?? "" };
    const resumed = await fleet.jobs.wait((await fleet.jobs.trigger(request)).job.id);
    expect(resumed).toMatchObject({
      outcome: { code: "success" },
      session_id: last?.session_id,
    });
    const after = (await fleet.sessions.list()).find(
      ({ session_id }) => session_id === last?.session_id,
    );
    expect(after?.turns).toBe((before?.turns ?? 0) + 1);
    await fleet.agents.resume("paused");
    expect(await fleet.jobs.wait(waiting?.id ?? "")).toMatchObject({
      outcome: { code: "success" },
    });
    expect(existsSync(join(dir, ".herdctl/herd.db"))).toBe(true);
  },
  60_000,
);
