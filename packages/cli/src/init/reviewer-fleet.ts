import type { Project } from "./detect-project.ts";
import type { Surroundings } from "./surroundings.ts";

/** The name of the fleet for a git repository, beside the names of the examples. */
export const reviewerName = "reviewer";

export type Runtime = "cli" | "sdk";

/** The fleet file of an agent that reviews the commits of the repository and runs its tests. */
export function reviewerFleet(
  fleetName: string,
  runtime: Runtime,
  { project, docker }: Pick<Surroundings, "project" | "docker">,
): string {
  const testCommand = project?.testCommand;
  const purpose = testCommand === undefined ? "" : ` and runs its tests`;
  return `# yaml-language-server: $schema=.herdctl/schema/fleet.json
# An agent that reviews the latest commits of this repository${purpose}
version: 1
fleet: { name: ${fleetName} }

defaults:
${runtimeLine(runtime)}
  max_turns: 50
  max_budget_usd: 2 # a job that costs more is stopped

agents:
  - name: reviewer
    description: Reviews the latest commits${testCommand === undefined ? "" : " and runs the tests"}
    permission_mode: dontAsk # tools that are not listed below are denied
    allowed_tools:
${allowedTools(testCommand)
  .map((tool) => `      - ${tool}`)
  .join("\n")}
    default_prompt: |
${promptLines(testCommand)
  .map((line) => `      ${line}`)
  .join("\n")}
${dockerLines(project, docker)}    schedules:
      weekdays:
        type: cron
        cron: "0 9 * * 1-5"
        enabled: false # \`herdctl schedules enable reviewer weekdays\`
`;
}

export function runtimeLine(runtime: Runtime): string {
  return runtime === "cli"
    ? "  runtime: cli # uses your Claude login; an API key works too"
    : "  runtime: sdk # uses the API key; for a Claude login, use `cli`";
}

function allowedTools(testCommand: string | undefined): string[] {
  const readOnly = ["Read", "Glob", "Grep"];
  const git = ["log", "show", "diff", "status", "blame"].map((name) => `Bash(git ${name}:*)`);
  return [...readOnly, ...git, ...(testCommand === undefined ? [] : [`Bash(${testCommand}:*)`])];
}

function promptLines(testCommand: string | undefined): string[] {
  const run = testCommand === undefined ? [] : [`Run \`${testCommand}\`.`];
  return [
    "Review the commits of the last seven days, or the latest one if there are none.",
    ...run,
    "List the problems that matter, the worst first: bugs, missing tests, unclear code.",
    "Name file and line of each. Do not change any file.",
  ];
}

function dockerLines(project: Project | undefined, docker: string | undefined): string {
  if (docker === undefined) return "";
  const base = project?.baseImage === undefined ? "" : ` --base ${project.baseImage}`;
  return `    # Isolate the agent, after \`herdctl docker build${base}\`:
    # docker: { enabled: true }
`;
}
