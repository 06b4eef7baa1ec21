/** How one machine takes part in a fleet with a shared store. */
export const nodeOptionSpecs = [
  {
    flags: "--role <role>",
    summary: "Role of this machine: all, control (runs no jobs) or worker (only runs jobs)",
  },
  { flags: "--labels <list>", summary: "Labels that agents select with `runs_on`, such as gpu,eu" },
  {
    flags: "--node-name <name>",
    summary: "Name of this machine in the fleet (default: host name)",
  },
  { flags: "--capacity <number>", summary: "Number of jobs that this machine runs concurrently" },
];
