import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBackup, FleetManager, loadFleet, restoreBackup } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const fleetFile = `version: 1
fleet: { name: shop, max_keep_alive: 0 }
claude_path: ${claudeBinary("325")}
defaults: { working_directory: ./work, permission_mode: bypassPermissions, max_concurrent: 10 }
agents: [{ name: coder }]
`;

async function startFleet(folder: string, env: Record<string, string>) {
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env });
  onTestFinished(() => fleet.shutdown({ drainMs: 0 }));
  await fleet.start();
  return fleet;
}

test("a backup of a fleet with ten running jobs is restored elsewhere, and a session continues", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const old = tempFolderWith({ "herdctl.yaml": fleetFile, "work/readme": "", ".env": "A=b\n" });
  const fleet = await startFleet(old, env);
  const trigger = (prompt: string, resume?: string) =>
    fleet.jobs.trigger({ agent: "coder", prompt, ...(resume && { resume }) });
  const first = await fleet.jobs.wait((await trigger("Remember the word heron.")).job.id);
  const running = await Promise.all(
    Array.from({ length: 10 }, () => trigger('OBEY: Bash {"command":"sleep 8"}')),
  );
  const file = join(old, "shop.backup");
  await createBackup(loadFleet(join(old, "herdctl.yaml"), env), { file, password: "secret word" });
  expect(readFileSync(file).includes("heron")).toBe(false);
  await fleet.shutdown({ drainMs: 0 });

  const fresh = tempFolderWith({ ".keep": "" });
  const restore = (password?: string) =>
    restoreBackup({ file, ...(password && { password }) }, { dir: fresh, environment: env });
  await expect(restore()).rejects.toThrow(/is encrypted/);
  await expect(restore("wrong")).rejects.toThrow(/password is wrong/);
  await restore("secret word");
  await expect(restore("secret word")).rejects.toThrow(/already holds the state/);
  expect(() => readFileSync(join(fresh, ".env"))).toThrow(/ENOENT/);

  const restored = await startFleet(fresh, env);
  expect((await restored.jobs.list({ limit: 50 })).jobs).toHaveLength(11);
  const again = await restored.jobs.trigger({
    ...{ agent: "coder", prompt: "Which word?", resume: first.id },
  });
  const continued = await restored.jobs.wait(again.job.id);
  expect(continued).toMatchObject({
    outcome: { code: "success" },
    session_id: first.session_id,
    output_file: expect.stringContaining(fresh),
  });
  const record = await restored.jobs.get(first.id);
  expect(record?.job.output_file).toBe(join(fresh, ".herdctl/jobs", first.id, "output.jsonl"));
  expect(readFileSync(record?.job.output_file ?? "", "utf8")).toContain('"result"');
  for (const { job } of running) expect(await restored.jobs.get(job.id)).toBeDefined();
}, 120_000);

test("a file that is no backup changes nothing", async () => {
  const folder = tempFolderWith({ "x.tar.gz": "no archive" });
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub", "note"), "kept");
  const source = { file: join(folder, "x.tar.gz") };
  await expect(restoreBackup(source, { dir: folder, environment: {} })).rejects.toThrow(
    /archive could not be processed/,
  );
  expect(() => readFileSync(join(folder, ".herdctl/herd.db"))).toThrow(/ENOENT/);
});
