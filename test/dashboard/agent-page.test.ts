import { showConfig } from "@herdctl/core";
import type { DueRecord } from "@herdctl/server/contract";
import { expect, test } from "vitest";
import { calendarOf } from "../../packages/dashboard/src/pages/agent/calendar-days.ts";
import { type Posture, postureOf } from "../../packages/dashboard/src/pages/agent/posture.ts";
import { parseAgentSearch } from "../../packages/dashboard/src/pages/agent/search.ts";
import { inlineAgent, load } from "../support/fleet.ts";

/** Of an agent that is configured so, by the product's own reading of the configuration. */
function posture(yaml: string): Posture {
  const files = inlineAgent(`working_directory: work\n${yaml}`);
  files["herdctl.yaml"] += "  - name: two\n";
  const { agents } = showConfig(load(files, { SECRET: "a secret of the tests" }));
  return postureOf(agents[0]?.values ?? []);
}

const words = (statements: Posture[keyof Posture]) =>
  statements.map(({ weight, text }) => `${weight}: ${text}`).join("\n");

test("an agent on the host is said to be open: to the machine, the network and all tools", () => {
  const { runs, reaches, touches } = posture("permission_mode: bypassPermissions");
  expect(words(runs)).toMatch(
    /^open: On this machine, as the user of the fleet, with the Agent SDK/,
  );
  expect(words(reaches)).toContain("open: Every address that this machine reaches");
  expect(words(touches)).toContain("open: Every tool, unasked");
  expect(words(touches)).toContain(
    "tight: Hooks, MCP servers and settings of the repository are not",
  );
});

test("a container without a network is said to be tight, and what opens it is named", () => {
  const tight = posture("runtime: cli\ndocker: { enabled: true, memory: 1g }");
  expect(words(tight.runs)).toMatch(
    /^tight: In a container of its own .*CLI.*at most 1g of memory/,
  );
  expect(words(tight.reaches)).toContain("tight: No network at all");
  expect(words(tight.reaches)).toContain("tight: The credential (`auto`) stays outside");

  const opened = posture(
    "docker: { enabled: true, egress: [npm, example.com], auth: env, read_only: false, workspace_mode: ro }",
  );
  expect(words(opened.reaches)).toContain("opens: npm, example.com");
  expect(words(opened.reaches)).toContain("open: The credential (`auto`) is inside");
  expect(words(opened.runs)).toContain("plain: It may change the container's own files");
  expect(words(opened.touches)).toContain("which it can only read");
  expect(words(posture("docker: { enabled: true, network: bridge }").reaches)).toMatch(/^open: /);
});

test("tools, trust, MCP servers and work for others are named", () => {
  const { reaches, touches } = posture(`permission_mode: dontAsk
allowed_tools: [Read, "mcp__github__*"]
denied_tools: [WebSearch]
setting_sources: [user, project]
mcp_servers: { github: { command: npx, args: [server] } }
may_trigger: [two]`);
  expect(words(touches)).toContain("Without asking, too: `Read`, `mcp__github__*`.");
  expect(words(touches)).toContain("tight: Never: `WebSearch`.");
  expect(words(touches)).toContain("open: It trusts the repository: its project settings");
  expect(words(touches)).toContain("It may give work to: `two`.");
  expect(words(reaches)).toContain("The MCP server `github`, which is `npx`.");
});

test("everybody who can trigger it is named: clock, webhooks, chats and issues", () => {
  const { triggers } = posture(`schedules:
  often: { type: interval, every: 5m, prompt: Go. }
  hook: { type: webhook, signature: { kind: github, secret_env: SECRET }, prompt: Go. }
work_source: { type: github, repo: acme/shop, labels: [ready] }`);
  expect(words(triggers)).toContain("herdctl trigger");
  expect(words(triggers)).toContain("The clock, by `often`: interval 5m.");
  expect(words(triggers)).toContain("Deliveries to the webhook `hook` that are signed (github).");
  expect(words(triggers)).toContain("open: Whoever may label issues of acme/shop with `ready`.");
});

function due(day: number, result: DueRecord["result"], count = 1): DueRecord {
  const due_at = new Date(2026, 1, day, 9).toISOString();
  const name = { agent: "one", schedule: "daily", reason: null, job_id: null };
  return { ...name, due_at, until: due_at, count, result, settled_at: due_at };
}

test("the calendar ends with the week of today, and a day shows what became of all that was due", () => {
  const records = [due(17, "ran"), due(17, "missed", 3), due(18, "ran"), due(1, "skipped")];
  const days = calendarOf(records, new Date(2026, 1, 18, 12));
  expect(days).toHaveLength(35);
  expect(days.at(-1)?.day).toBe("2026-02-22");
  const of = (day: string) => days.find((one) => one.day === day);
  expect(of("2026-02-17")).toMatchObject({
    shares: [
      { tone: "bad", share: 0.75 },
      { tone: "ok", share: 0.25 },
    ],
    words: "1 ran, 3 missed",
  });
  expect(of("2026-02-18")).toMatchObject({ shares: [{ tone: "ok", share: 1 }], words: "1 ran" });
  expect(of("2026-02-01")).toMatchObject({ shares: [{ tone: "idle" }] });
  expect(of("2026-02-20")).toMatchObject({ shares: [], words: "nothing was due" });
});

test("an address with nonsense in it is one without", () => {
  expect(parseAgentSearch({ tab: "nothing", day: "today", written: "true" })).toEqual({});
});
