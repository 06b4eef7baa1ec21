import { viewConfig } from "@herdctl/config";
import type { DueTimeRecord } from "@herdctl/server/contract";
import { expect, test } from "vitest";
import { toCalendarDays } from "../../packages/dashboard/src/pages/agent/calendar-days.ts";
import { describePosture, type Posture } from "../../packages/dashboard/src/pages/agent/posture.ts";
import { parseAgentSearch } from "../../packages/dashboard/src/pages/agent/search-params.ts";
import { inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

/** The posture of an agent with this configuration, as the product parses it. */
function posture(yaml: string): Posture {
  const files = inlineAgent(`working_directory: work\n${yaml}`);
  files["herdctl.yaml"] += "  - name: two\n";
  const { agents } = viewConfig(loadTestFleet(files, { SECRET: "a secret of the tests" }));
  return describePosture(agents[0]?.values ?? []);
}

const words = (statements: Posture[keyof Posture]) =>
  statements.map(({ weight, text }) => `${weight}: ${text}`).join("\n");

test("describes an agent on the host as open: machine, network and all tools", () => {
  const { runs, reaches, touches } = posture("permission_mode: bypassPermissions");
  expect(words(runs)).toMatch(/^open: On this machine, as the fleet's user, with the Agent SDK/);
  expect(words(reaches)).toContain("open: Every address this machine can reach");
  expect(words(touches)).toContain("open: Uses every tool without asking");
  expect(words(touches)).toContain(
    "tight: Ignores the repository's hooks, MCP servers and settings",
  );
});

test("describes a container without a network as tight, and names what opens it", () => {
  const tight = posture("runtime: cli\ndocker: { enabled: true, memory: 1g }");
  expect(words(tight.runs)).toMatch(/^tight: In a separate container .*CLI.*at most 1g of memory/);
  expect(words(tight.reaches)).toContain("tight: No network access");
  expect(words(tight.reaches)).toContain("tight: The credential (`auto`) stays outside");

  const opened = posture(
    "docker: { enabled: true, egress: [npm, example.com], auth: env, read_only: false, workspace_mode: ro }",
  );
  expect(words(opened.reaches)).toContain("allows: npm, example.com");
  expect(words(opened.reaches)).toContain("open: The credential (`auto`) is inside");
  expect(words(opened.runs)).toContain("plain: It can change the container's file system");
  expect(words(opened.touches)).toContain("which is read-only");
  expect(words(posture("docker: { enabled: true, network: bridge }").reaches)).toMatch(/^open: /);
});

test("names tools, trust, MCP servers and delegation", () => {
  const { reaches, touches } = posture(`permission_mode: dontAsk
allowed_tools: [Read, "mcp__github__*"]
denied_tools: [WebSearch]
setting_sources: [user, project]
mcp_servers: { github: { command: npx, args: [server] } }
may_trigger: [two]`);
  expect(words(touches)).toContain("Also allowed without asking: `Read`, `mcp__github__*`.");
  expect(words(touches)).toContain("tight: Never allowed: `WebSearch`.");
  expect(words(touches)).toContain("open: Trusts the repository: applies its project settings");
  expect(words(touches)).toContain("Can delegate to: `two`.");
  expect(words(reaches)).toContain("MCP server `github` (`npx`).");
});

test("states what happens with a tool that needs permission, and marks a shell on the host", () => {
  const { touches } = posture("permission_mode: acceptEdits\nallowed_tools: [Bash, Read]");
  expect(words(touches)).toContain("Other tools that need permission are denied");
  expect(words(touches)).toContain("open: Runs any command as the fleet's user");
  expect(words(touches)).toContain("Also allowed without asking: `Read`.");
  const narrow = posture('allowed_tools: ["Bash(git *)"]');
  expect(words(narrow.touches)).not.toContain("any command");
  const contained = posture("docker: { enabled: true }\nallowed_tools: [Bash]");
  expect(words(contained.touches)).not.toContain("any command");
});

test("names everything that can trigger it: clock, webhooks, chats and issues", () => {
  const { triggers } = posture(`schedules:
  often: { type: interval, every: 5m, prompt: Go. }
  hook: { type: webhook, signature: { kind: github, secret_env: SECRET }, prompt: Go. }
work_source: { type: github, repo: acme/shop, labels: [ready] }`);
  expect(words(triggers)).toContain("herdctl trigger");
  expect(words(triggers)).toContain("Schedule `often`: interval 5m.");
  expect(words(triggers)).toContain("Webhook `hook`: deliveries with a valid signature (github).");
  expect(words(triggers)).toContain("open: Anyone who can label issues of acme/shop with `ready`.");
});

function due(day: number, result: DueTimeRecord["result"], count = 1): DueTimeRecord {
  const due_at = new Date(2026, 1, day, 9).toISOString();
  const name = { agent: "one", schedule: "daily", reason: null, job_id: null };
  return { ...name, due_at, last_due_at: due_at, count, result, settled_at: due_at };
}

test("ends the calendar with the current week and shows the outcomes of each day", () => {
  const records = [due(17, "ran"), due(17, "missed", 3), due(18, "ran"), due(1, "skipped")];
  const days = toCalendarDays(records, new Date(2026, 1, 18, 12));
  expect(days).toHaveLength(35);
  expect(days.at(-1)?.day).toBe("2026-02-22");
  const of = (day: string) => days.find((one) => one.day === day);
  expect(of("2026-02-17")).toMatchObject({
    shares: [
      { tone: "bad", share: 0.75 },
      { tone: "ok", share: 0.25 },
    ],
    summary: "1 ran, 3 missed",
  });
  expect(of("2026-02-18")).toMatchObject({ shares: [{ tone: "ok", share: 1 }], summary: "1 ran" });
  expect(of("2026-02-01")).toMatchObject({ shares: [{ tone: "idle" }] });
  expect(of("2026-02-20")).toMatchObject({ shares: [], summary: "No due times" });
});

test("ignores invalid parameters of an address", () => {
  expect(parseAgentSearch({ tab: "nothing", day: "today", written: "true" })).toEqual({});
});
