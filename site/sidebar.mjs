/** Every page of the site, by its file in the repository, in the order to read. */
export const sidebar = [
  {
    label: "Start",
    pages: ["docs/start.md", "docs/install.md", "docs/first-agent.md", "docs/examples.md"],
  },
  {
    label: "Concepts",
    pages: ["docs/concepts.md", "docs/sdk-or-cli.md", "docs/comparison.md", "GLOSSARY.md"],
  },
  {
    label: "Guides",
    pages: [
      "docs/running.md",
      "docs/fleet.md",
      "docs/configuration.md",
      "docs/schedules.md",
      "docs/resume-by-hand.md",
      "docs/questions.md",
      "docs/dashboard.md",
      "docs/docker.md",
      "docs/webhooks.md",
      "docs/work-source.md",
      "docs/hooks.md",
      "docs/chat.md",
      "docs/discord.md",
      "docs/slack.md",
      "docs/herd-tools.md",
      "docs/chains.md",
      "docs/mcp.md",
      "docs/embedding.md",
      "docs/control-api.md",
      "docs/audit.md",
      "docs/service.md",
      "docs/many-machines.md",
      "docs/doctor.md",
      "docs/rehearsal.md",
      "docs/rehearsing-in-ci.md",
      "docs/troubleshooting-paths.md",
      "docs/troubleshooting-containers.md",
    ],
  },
  {
    label: "Reference",
    pages: [
      "docs/reference/cli.md",
      "docs/reference/configuration.md",
      "docs/reference/control-api.md",
      "docs/reference/outcomes.md",
      "docs/reference/errors.md",
    ],
  },
  {
    label: "Security",
    pages: ["docs/security.md", "docs/gateway.md", "docs/spending.md", "SECURITY.md"],
  },
  {
    label: "Internals",
    pages: [
      "docs/internals.md",
      "ARCHITECTURE.md",
      "docs/runner.md",
      "docs/permissions.md",
      "docs/mcp-servers.md",
      "docs/sessions.md",
      "docs/output-format.md",
      "docs/recovery.md",
      "docs/state.md",
      "docs/adr/0001-trust-classes.md",
      "docs/adr/0002-private-git-directory.md",
      "CONTRIBUTING.md",
    ],
  },
  {
    label: "Proof",
    pages: [
      "docs/requirements.md",
      "docs/proof/README.md",
      "docs/proof/faults.md",
      "docs/proof/defences.md",
      "docs/proof/security-review.md",
      "docs/proof/speed.md",
      "CHANGELOG.md",
    ],
  },
];

/** Titles that are too long for the side. */
export const shortTitles = {
  "docs/comparison.md": "Comparison",
  "docs/resume-by-hand.md": "Resume by hand",
  "docs/schedules.md": "Schedules and budgets",
  "docs/chat.md": "Chat",
  "docs/discord.md": "Discord, step by step",
  "docs/slack.md": "Slack, step by step",
  "docs/herd-tools.md": "Tools of the fleet",
  "docs/chains.md": "Chains of agents",
  "docs/mcp.md": "The fleet as MCP tools",
  "docs/embedding.md": "As a library",
  "docs/control-api.md": "Control API",
  "docs/rehearsal.md": "Rehearsal",
  "docs/reference/cli.md": "Commands",
  "docs/reference/configuration.md": "Configuration",
  "docs/reference/control-api.md": "Control API",
  "docs/state.md": "State on disk",
  "SECURITY.md": "Security policy",
};

/** Where a page stands on the site. */
export function slugOf(page) {
  if (page === "README.md") return "";
  const inDocs = page.startsWith("docs/");
  const path = inDocs ? page.slice("docs/".length) : `project/${page.toLowerCase()}`;
  return path.replace(/(^|\/)README\.md$/, "").replace(/\.md$/, "");
}
