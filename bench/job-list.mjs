// The list of jobs of a fleet with 100,000 finished jobs, compared with one that has ten.
import { join } from "node:path";
import { withFleet } from "./bench-fleet.mjs";
import { createFinishedJobs } from "./create-finished-jobs.mjs";
import { alternate, timeOf } from "./measure.mjs";

const [smallCount, largeCount] = [10, 100_000];
const agents = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
const fleetFile = `version: 1
fleet: { name: bench, retention: { jobs_per_agent: ${largeCount} } }
agents:
${agents.map((name) => `  - { name: ${name}, runtime: cli }`).join("\n")}
`;

export function jobList() {
  return withJobs(smallCount, (small) =>
    withJobs(largeCount, async (large) => {
      const list = (control) => () => timeOf(() => control.jobs.list({ limit: 10 }));
      const times = await alternate(60, { small: list(small), large: list(large) });
      return {
        name: "list of jobs, 100,000 jobs",
        values: times.large,
        baseline: { name: `${smallCount} jobs`, values: times.small },
        bound: { ratio: 1.5 },
      };
    }),
  );
}

function withJobs(count, measure) {
  const prepare = ({ folder }) => createFinishedJobs(join(folder, ".herdctl"), agents, count);
  return withFleet({ fleetFile, prepare }, ({ control }) => measure(control));
}
