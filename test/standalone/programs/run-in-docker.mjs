// Runs one job in a container, until it is killed.
import { runAgent } from "@herdctl/core";

const [stateDir, working_directory, jobId, prompt] = process.argv.slice(2);
const agent = {
  name: "one",
  runtime: "cli",
  permission_mode: "bypassPermissions",
  working_directory,
  docker: { enabled: true },
};
await runAgent({ agent, prompt, jobId, stateDir });
