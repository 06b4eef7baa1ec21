// Has each letter in inbox/ answered, and puts the drafts into outbox/. Run again, it answers only
// what is new: the same key gives the same job.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core";

const folder = import.meta.dirname;
const fleet = new FleetManager({
  file: join(folder, "herdctl.yaml"),
  unattended: true, // nobody is asked: what is not allowed is denied
});
fleet.on("job:started", ({ job }) => console.log(`${job.agent} begins ${job.id}`));

await fleet.start();
try {
  mkdirSync(join(folder, "outbox"), { recursive: true });
  const letters = readdirSync(join(folder, "inbox")).filter((name) => name.endsWith(".txt"));
  const answers = await Promise.all(letters.map(answer));
  const spent = answers.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
  console.log(`${answers.length} letters, $${spent.toFixed(4)}`);
  if (answers.some(({ outcome }) => outcome.code !== "success")) process.exitCode = 1;
} finally {
  await fleet.stop();
}

async function answer(letter) {
  const { job } = await fleet.trigger({
    trigger: "manual",
    agent: "clerk",
    prompt: `Read the letter ${letter} and draft an answer. Say nothing but the draft.`,
    key: `answer ${letter}`,
  });
  const done = await fleet.wait(job.id);
  console.log(`${letter}: ${done.outcome.code}`);
  if (done.outcome.code === "success") {
    writeFileSync(join(folder, "outbox", letter), `${done.summary}\n`);
  }
  return done;
}
