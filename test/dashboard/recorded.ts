import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetControl, TriggerRequest } from "@herdctl/core";
import type { Script } from "@herdctl/rehearsal";
import type { ToolEntry } from "../../packages/dashboard/src/job/entry.ts";
import type { OutputLine } from "../../packages/dashboard/src/job/lines.ts";
import type { JobRecord } from "../../packages/dashboard/src/job/record.ts";
import { Story } from "../../packages/dashboard/src/job/story.ts";
import { tell } from "../../packages/dashboard/src/job/tell.ts";
import { type ClaudeVersion, claudeBinary } from "../support/claude.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";

/** A picture of one blue dot. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC";

const bash = (command: string, more = {}) => ({ name: "Bash", input: { command, ...more } });

/** What the model does when it is asked for a rich job: a little of everything. */
function script(workspace: string): Script {
  const at = (name: string) => join(workspace, name);
  const agent = { description: "Count", prompt: "sub count", subagent_type: "general-purpose" };
  return {
    rules: [
      {
        match: { prompt: "rich" },
        replies: [
          { thinking: "Look.", text: "I **look** first.", tools: [bash("ls -1"), bash("exit 3")] },
          { tools: [{ name: "Read", input: { file_path: at("a.ts") } }] },
          {
            tools: [
              {
                name: "Edit",
                input: { file_path: at("a.ts"), old_string: "b = 2", new_string: "b = 22" },
              },
              { name: "Write", input: { file_path: at("new.txt"), content: "one\ntwo\n" } },
              { name: "Read", input: { file_path: at("dot.png") } },
            ],
          },
          { tools: [{ name: "Agent", input: { ...agent, run_in_background: false } }] },
          { tools: [bash("sleep 0.4", { run_in_background: true })] },
          "All done.",
        ],
      },
      {
        match: { prompt: "sub", from: "subagent" },
        replies: [{ text: "Counting.", tools: [bash("ls | wc -l")] }, "There are four."],
      },
      { match: { prompt: "overloaded" }, reply: "At last.", fault: { status: 529, times: 1 } },
      {
        match: { prompt: "careful" },
        replies: [{ tools: [bash("touch x")] }, { tools: [bash("touch y")] }, "Both."],
      },
      {
        match: { prompt: "hand on" },
        replies: [
          {
            tools: [
              {
                name: "mcp__herd__delegate",
                input: { agent: "second", prompt: "plain", wait: true },
              },
            ],
          },
          "Handed on.",
        ],
      },
    ],
    default: "Plain.",
  };
}

const agents = (workspace: string) => `
  - { name: first, runtime: cli, working_directory: ${workspace}, tools: [delegate], may_trigger: [second] }
  - { name: second, runtime: sdk }
  - { name: careful, runtime: cli, permission_mode: default }`;

export interface Recording {
  record: JobRecord;
  lines: OutputLine[];
}

export interface RecordingFleet {
  fleet: FleetControl;
  record(request: Omit<TriggerRequest, "trigger">): Promise<Recording>;
}

/** A fleet whose agents play the script above with the real claude. */
export async function recordingFleet(version: ClaudeVersion = "325"): Promise<RecordingFleet> {
  const workspace = folderWith({ "a.ts": "const a = 1;\nconst b = 2;\n" });
  writeFileSync(join(workspace, "dot.png"), Buffer.from(dot, "base64"));
  const on = await stage({ script: script(workspace) });
  const file = fleetFile(on, agents(workspace), "", claudeBinary(version));
  const fleet = await startFleet(on, file);
  const record: RecordingFleet["record"] = async (request) => {
    const { job } = await fleet.trigger({ trigger: "manual", ...request });
    await fleet.wait(job.id);
    return recordingOf(fleet, job.id);
  };
  return { fleet, record };
}

export async function recordingOf(fleet: FleetControl, id: string): Promise<Recording> {
  const found = await fleet.job(id);
  if (!found) throw new Error(`there is no job ${id}`);
  const lines: OutputLine[] = [];
  for await (const { message, offset } of fleet.output(id))
    lines.push({ message: { ...message }, offset });
  const approvals = await fleet.approvals({ job: id });
  const chain = await fleet.chain(id);
  const handedOn = chain.filter((one) => one.chain.parent === id);
  return { record: { ...found, approvals, handedOn }, lines };
}

export function storyOf(lines: readonly OutputLine[]): Story {
  const story = new Story();
  for (const line of lines) tell(story, line);
  return story;
}

/** As the output endpoint sends them. */
export function bytesOf(lines: readonly OutputLine[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

export function toolCalls({ tools }: Story): ToolEntry[] {
  return [...tools.values()];
}
