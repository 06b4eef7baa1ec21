/** What a node is among those that share a store. */
export const nodeFlags = [
  {
    flags: "--role <role>",
    summary: "all, control (runs no jobs) or worker (only runs jobs); with a shared store",
  },
  { flags: "--labels <list>", summary: "what `runs_on` of agents asks for, such as gpu,eu" },
  { flags: "--node-name <name>", summary: "how it is called (default: the machine's name)" },
  { flags: "--capacity <number>", summary: "how many jobs it runs at once" },
];
