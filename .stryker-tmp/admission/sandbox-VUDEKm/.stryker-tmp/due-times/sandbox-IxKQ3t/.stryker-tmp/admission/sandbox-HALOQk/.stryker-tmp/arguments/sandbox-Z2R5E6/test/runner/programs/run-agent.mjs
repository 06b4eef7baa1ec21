// Runs the agent `one` of a fleet with the given build of the core, and prints the result.
const [core, fleetFile, claudePath] = process.argv.slice(2);
const { loadFleet, runAgent } = await import(core);
const { fleet, environment } = loadFleet(fleetFile);
const { success, error, job } = await runAgent({
  agent: fleet.agents[0],
  prompt: "hello",
  jobId: "job-test-program",
  stateDir: fleet.stateDir,
  environment,
  claudePath,
});
const causes = [error?.cause?.code, error?.cause?.cause?.code];
const told = { success, outcome: job.outcome, name: error?.name, jobId: error?.jobId, causes };
process.stdout.write(JSON.stringify(told));
