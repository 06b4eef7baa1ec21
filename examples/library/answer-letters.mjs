// Lets the agent answer each letter in inbox/ and writes the drafts to outbox/. If you run it again,
// it answers only new letters, because the same key returns the same job.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core";

const folder = import.meta.dirname;
const fleet = new FleetManager({
  file: join(folder, "herdctl.yaml"),
  unattended: true, // deny tools that are not allowed instead of asking
});
fleet.on("job:started", ({ job }) => console.log(`${job.agent} starts ${job.id}`));

await fleet.start();
try {
  mkdirSync(join(folder, "outbox"), { recursive: true });
  const letters = readdirSync(join(folder, "inbox")).filter((name) => name.endsWith(".txt"));
  const answers = await Promise.all(letters.map(answer));
  const spent = answers.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
  console.log(`${answers.length} letters, $${spent.toFixed(4)}`);
  if (answers.some(({ outcome }) => outcome.code !== "success")) process.exitCode = 1;
} finally {
  await fleet.shutdown();
}

async function answer(letter) {
  const { job } = await fleet.jobs.trigger({
    agent: "clerk",
    prompt: `Read the letter ${letter} and draft an answer. Say nothing but the draft.`,
    key: `answer ${letter}`,
  });
  const done = await fleet.jobs.wait(job.id);
  console.log(`${letter}: ${done.outcome.code}`);
  if (done.outcome.code === "success") {
    writeFileSync(join(folder, "outbox", letter), `${done.summary}\n`);
  }
  return done;
}
