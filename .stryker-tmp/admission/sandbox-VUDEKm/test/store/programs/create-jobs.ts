import { StateManager } from "../../../packages/core/src/store/state-manager.ts";

// Prints the id of each job once its creation is acknowledged, until killed.
const state = await new StateManager(process.argv[2] ?? "").open();
for (;;) {
  const { job } = await state.jobs.create({ agent: "writer", prompt: "x".repeat(500) });
  await state.jobs.startAttempt(job.id);
  process.stdout.write(`${job.id}\n`);
}
