// Records the state of a fleet as the current version writes it:
//   node test/compatibility/record-state.mjs NAME
// Run it once for each release, and whenever a migration was added. The test beside this file opens
// every recording with the current code.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createBackup, FleetManager, loadFleet } from "@herdctl/core/internal";
import { startRehearsal } from "@herdctl/rehearsal";

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("usage: node test/compatibility/record-state.mjs NAME");
const file = resolve(import.meta.dirname, "recordings", `${name}.tar.gz`);

const folder = mkdtempSync(join(tmpdir(), "herdctl-recording-"));
const dir = join(folder, "shop");
const rehearsal = await startRehearsal({ script: { default: "Done." } });
try {
  mkdirSync(join(dir, "work"), { recursive: true });
  writeFileSync(
    join(dir, "herdctl.yaml"),
    `version: 1
fleet: { name: shop, max_keep_alive: 0 }
defaults: { working_directory: ./work }
agents: [{ name: coder }, { name: paused }]
`,
  );
  const env = { PATH: "/usr/bin:/bin", HOME: folder, TMPDIR: folder, ...rehearsal.env() };
  const fleet = new FleetManager({ file: join(dir, "herdctl.yaml"), env });
  await fleet.start();
  const first = await finish(fleet, { agent: "coder", prompt: "Remember the word heron." });
  await finish(fleet, { agent: "coder", prompt: "Which word?", resume: first.id });
  await fleet.agents.pause("paused");
  await fleet.jobs.trigger({ agent: "paused", prompt: "Wait for me." });
  await fleet.shutdown({ drainMs: 0 });
  await createBackup(loadFleet(join(dir, "herdctl.yaml"), env), { file });
} finally {
  await rehearsal.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function finish(fleet, request) {
  const { job } = await fleet.jobs.trigger(request);
  const ended = await fleet.jobs.wait(job.id);
  if (ended.outcome?.code !== "success") throw new Error(JSON.stringify(ended.outcome));
  return ended;
}
