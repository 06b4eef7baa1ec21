// A fleet file with so many agents, each with schedules that are not due.
export function fleetOf(agents) {
  const names = Array.from({ length: agents }, (_, index) => `agent-${index}`);
  return `version: 1
fleet: { name: large }
defaults: { permission_mode: acceptEdits, max_turns: 50 }
agents:
${names.map(agent).join("")}`;
}

const agent = (name, index) => `  - name: ${name}
    runtime: cli
    allowed_tools: [Read, Edit, Bash]
    schedules:
      issues: { type: interval, every: 7d, prompt: "Fix the oldest ready issue." }
      report: { type: cron, cron: "${index % 60} 4 29 2 *", prompt: "Write the report." }
`;
