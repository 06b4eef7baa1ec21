import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Script } from "@herdctl/rehearsal";
import { expect } from "vitest";
import type { TestHarness } from "../support/harness.ts";
import { messagesOfType } from "../support/runtimes-under-test.ts";
import { type ObservedRun, systemText, toolNames } from "./observed-run.ts";

/** An option, and what shows its effect in a real run. */
export interface OptionCase {
  key: string;
  yaml: (harness: TestHarness) => string;
  check: (run: ObservedRun) => void;
  /** Options without which this one has no effect, for a run of its own. */
  needs?: readonly OptionCase[];
}

/** Options that can be combined in one run. */
export interface OptionGroup {
  name: string;
  prepare?: (harness: TestHarness) => void;
  script: Script;
  cases: readonly OptionCase[];
}

const mcpServer = fileURLToPath(new URL("../runtimes/programs/mcp-server.mjs", import.meta.url));
const permissionServer = fileURLToPath(new URL("programs/permission-server.mjs", import.meta.url));

const extraFolder = (harness: TestHarness) => join(harness.root, "extra");
const plugin = (harness: TestHarness) => join(harness.root, "plugin");

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function preparePlugin(harness: TestHarness): void {
  writeFiles(plugin(harness), {
    ".claude-plugin/plugin.json": '{ "name": "tools", "version": "1.0.0" }',
    "skills/sing/SKILL.md": "---\nname: sing\ndescription: How to sing\n---\nLA-LA-LA\n",
    "skills/dance/SKILL.md": "---\nname: dance\ndescription: How to dance\n---\nHOP\n",
  });
}

const call = (name: string, input: Record<string, unknown>) => ({ name, input });
const reviewCall = call("Agent", {
  description: "review",
  prompt: "review it",
  subagent_type: "reviewer",
  run_in_background: false,
});

/** Who works and how it thinks. */
const work: OptionGroup = {
  name: "work",
  prepare: (harness) => {
    preparePlugin(harness);
    writeFiles(extraFolder(harness), { "note.txt": "NOTE-FROM-ELSEWHERE\n" });
  },
  script: {
    rules: [
      { match: { from: "subagent" }, replies: ["Reviewed."], repeat: true },
      // The text of a skill is a prompt of its own.
      {
        match: { prompt: "hello" },
        replies: [
          { tools: [reviewCall] },
          { tools: [call("Peek", { file_path: "/etc/hostname" })] },
          { tools: [call("Skill", { skill: "tools:dance" })] },
          { tools: [call("Skill", { skill: "tools:sing" })] },
        ],
      },
      { reply: "Done." },
    ],
  },
  cases: [
    {
      key: "subagents",
      yaml: () =>
        "subagents:\n  reviewer: { description: Reviews code, prompt: REVIEW-PROMPT, tools: [Read], model: claude-haiku-4-5, max_turns: 3 }",
      check: ({ init, subagentBodies: [body], messages }) => {
        expect(init?.agents).toContain("reviewer");
        expect(body && systemText(body)).toContain("REVIEW-PROMPT");
        expect(body?.model).toBe("claude-haiku-4-5");
        expect(body && toolNames(body)).toEqual(["Read"]);
        const texts = messagesOfType(messages, "assistant").filter(
          ({ parent_tool_use_id: parent }) => parent !== null,
        );
        expect(JSON.stringify(texts)).toContain("Reviewed.");
      },
    },
    {
      key: "subagent_prompt",
      yaml: () => "subagent_prompt: ALL-SUBAGENTS",
      check: ({ subagentBodies: [body], body: main }) => {
        expect(body && systemText(body)).toContain("ALL-SUBAGENTS");
        expect(systemText(main)).not.toContain("ALL-SUBAGENTS");
      },
    },
    {
      key: "plugins",
      yaml: (harness) => `plugins: ["${plugin(harness)}"]`,
      check: ({ init }) =>
        expect(init?.plugins).toContainEqual(expect.objectContaining({ name: "tools" })),
    },
    {
      key: "skills",
      yaml: () => 'skills: ["tools:sing"]',
      check: ({ requests }) => {
        expect(requests).toContain("LA-LA-LA");
        expect(requests).not.toContain("HOP");
      },
    },
    {
      key: "builtin_tools",
      yaml: () => "builtin_tools: [Read, Bash, Agent, Skill]",
      check: ({ init, body }) => {
        expect(init?.tools).not.toContain("Write");
        expect(toolNames(body)).toContain("Read");
      },
    },
    {
      key: "tool_aliases",
      yaml: () => "tool_aliases: { Peek: Read }",
      check: ({ toolResults }) => expect(toolResults).not.toMatch(/No such tool/),
    },
    {
      key: "additional_directories",
      yaml: (harness) => `additional_directories: ["${extraFolder(harness)}"]`,
      check: ({ requests, harness }) =>
        expect(
          requests.includes(extraFolder(harness)) || requests.includes("/run/herdctl/folders/0"),
        ).toBe(true),
    },
    {
      key: "system_prompt",
      yaml: () => "system_prompt: { replace: [FIRST-BLOCK, SECOND-BLOCK], snapshot: false }",
      check: ({ body }) => {
        expect(systemText(body)).toMatch(/FIRST-BLOCK[\s\S]*SECOND-BLOCK/);
        expect(systemText(body)).not.toContain("software engineering");
      },
    },
    {
      key: "thinking_display",
      yaml: () => "thinking_display: summarized",
      check: ({ body }) => expect(body.thinking).toMatchObject({ display: "summarized" }),
    },
    {
      key: "betas",
      yaml: () => "betas: [files-api-2025-04-14]",
      check: ({ betas }) => expect(betas).toContain("files-api-2025-04-14"),
    },
    {
      key: "task_budget",
      yaml: () => "task_budget: 50000",
      check: ({ body }) =>
        expect(body.output_config).toMatchObject({ task_budget: { total: 50_000 } }),
    },
    {
      key: "max_output_tokens",
      yaml: () => "max_output_tokens: 12345",
      check: ({ body }) => expect(body.max_tokens).toBe(12_345),
    },
    {
      key: "tool_search",
      yaml: () => "tool_search: false",
      check: ({ body }) => expect(toolNames(body)).not.toContain("ToolSearch"),
    },
    {
      key: "title",
      yaml: () => "title: Nightly review",
      check: ({ messages }) => expect(JSON.stringify(messages)).toContain("Nightly review"),
    },
    {
      key: "effort",
      yaml: () => "effort: low",
      check: ({ body }) => expect(body.output_config).toMatchObject({ effort: "low" }),
    },
    {
      key: "model",
      yaml: () => "model: claude-sonnet-5",
      check: ({ body }) => expect(body.model).toBe("claude-sonnet-5"),
    },
    {
      key: "autocompact",
      yaml: () => "autocompact: 200k",
      check: ({ stderr }) => expect(stderr).not.toMatch(/autocompact/),
    },
  ],
};

/** What an agent may do. */
const rights: OptionGroup = {
  name: "rights",
  prepare: (harness) => {
    writeFiles(join(harness.root, "checkout"), {
      ".claude/settings.json": '{ "env": { "FROM_CHECKOUT": "trusted-checkout" } }',
    });
    writeFiles(harness.workspace, {
      ".claude/settings.json": '{ "env": { "FROM_CHECKOUT": "hostile-workspace" } }',
    });
  },
  script: {
    rules: [
      {
        replies: [
          { tools: [call("Bash", { command: "echo $FROM_CHECKOUT; touch made" })] },
          { tools: [call("mcp__echo__shout", { text: "hey" })] },
          "Done.",
        ],
      },
    ],
  },
  cases: [
    {
      key: "main_agent",
      yaml: () =>
        "main_agent: lead\nsubagents:\n  lead: { description: Leads, prompt: LEAD-PROMPT, initial_prompt: KICK-OFF }",
      check: ({ body, requests }) => {
        expect(systemText(body)).toContain("LEAD-PROMPT");
        expect(requests).toContain("KICK-OFF");
      },
    },
    {
      key: "permission_prompt_tool",
      yaml: () =>
        `permission_mode: default\npermission_prompt_tool: mcp__judge__decide\nmcp_servers:\n  judge: { command: node, args: ["${permissionServer}"], timeout: 20s }\n  echo: { command: node, args: ["${mcpServer}"], tool_policy: { shout: deny }, always_load: true }`,
      check: ({ harness }) => expect(existsSync(join(harness.workspace, "made"))).toBe(true),
    },
    {
      key: "mcp_servers",
      yaml: () => "",
      check: ({ toolResults, init }) => {
        expect(init?.mcp_servers.map(({ status }) => status)).toEqual(["connected", "connected"]);
        expect(toolResults).not.toContain("HEY");
      },
    },
    {
      key: "project_config_root",
      yaml: (harness) =>
        `setting_sources: [user, project]\nproject_config_root: "${join(harness.root, "checkout")}"`,
      check: ({ toolResults }) => {
        expect(toolResults).toContain("trusted-checkout");
        expect(toolResults).not.toContain("hostile-workspace");
      },
    },
    {
      key: "session.mode",
      yaml: () => "session: { mode: ephemeral }",
      check: ({ harness }) => {
        const projects = join(harness.configDir, "projects");
        const files = existsSync(projects) ? readdirSync(projects, { recursive: true }) : [];
        expect(files.filter((name) => String(name).endsWith(".jsonl"))).toEqual([]);
      },
    },
    {
      key: "debug",
      yaml: () => "debug: true",
      check: ({ harness }) => expect(existsSync(join(harness.configDir, "debug"))).toBe(true),
    },
  ],
};

/** Options that exclude others. */
const limits: OptionGroup = {
  name: "limits",
  script: {
    rules: [{ replies: [{ tools: [call("Bash", { command: "touch made" })] }, "Done."] }],
  },
  cases: [
    {
      key: "permission_prompts",
      yaml: () => "permission_mode: plan\npermission_prompts: none",
      check: ({ harness, init }) => {
        expect(existsSync(join(harness.workspace, "made"))).toBe(false);
        expect(init?.tools).not.toContain("AskUserQuestion");
      },
    },
    {
      key: "restricted",
      yaml: () => "restricted: true",
      check: ({ init }) => expect(init?.tools).not.toContain("Bash"),
    },
    {
      key: "skills: none",
      yaml: () => "skills: none",
      check: ({ init }) => expect(init?.tools).not.toContain("Skill"),
    },
    {
      key: "plan_instructions",
      yaml: () => "plan_instructions: PLAN-BODY",
      check: ({ requests }) => expect(requests).toContain("PLAN-BODY"),
    },
    {
      key: "fast_mode",
      yaml: () => "fast_mode: true",
      check: ({ body, betas }) => {
        expect(body.speed).toBe("fast");
        expect(betas).toContain("fast-mode-2026-02-01");
      },
    },
    {
      key: "system_prompt",
      yaml: () => "system_prompt: { append: APPENDED-TEXT, exclude_dynamic: true }",
      check: ({ body }) => expect(systemText(body)).toContain("APPENDED-TEXT"),
    },
  ],
};

/** A flag without a key of its own, which removes most tools, and a model that obeys a budget. */
const escapeHatch: OptionGroup = {
  name: "extra arguments",
  script: { rules: [{ reply: "Done." }] },
  cases: [
    {
      key: "extra_args",
      yaml: () => "extra_args: { bare: true }",
      check: ({ body }) => expect(toolNames(body).sort()).toEqual(["Bash", "Edit", "Read"]),
    },
    {
      key: "thinking",
      yaml: () => "model: claude-haiku-4-5\nthinking: { budget_tokens: 2048 }",
      check: ({ body }) =>
        expect(body.thinking).toMatchObject({ type: "enabled", budget_tokens: 2048 }),
    },
  ],
};

export const optionGroups: readonly OptionGroup[] = [work, rights, limits, escapeHatch];
