import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetControl, TriggerRequest } from "@herdctl/protocol";
import type { Script } from "@herdctl/rehearsal";
import { applyOutputLine } from "../../packages/dashboard/src/transcript/apply-output-line.ts";
import type { ToolEntry } from "../../packages/dashboard/src/transcript/entry.ts";
import type { JobRecord } from "../../packages/dashboard/src/transcript/job-record.ts";
import type { OutputLine } from "../../packages/dashboard/src/transcript/line-splitter.ts";
import { Transcript } from "../../packages/dashboard/src/transcript/transcript.ts";
import { type ClaudeVersion, claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

/** A PNG image of one blue dot. */
const dotPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC";

const bash = (command: string, more = {}) => ({ name: "Bash", input: { command, ...more } });

/** The script for a job with a little of everything. */
function script(workspace: string): Script {
  const workspacePath = (name: string) => join(workspace, name);
  const agent = { description: "Count", prompt: "sub count", subagent_type: "general-purpose" };
  return {
    rules: [
      {
        match: { prompt: "rich" },
        replies: [
          { thinking: "Look.", text: "I **look** first.", tools: [bash("ls -1"), bash("exit 3")] },
          { tools: [{ name: "Read", input: { file_path: workspacePath("a.ts") } }] },
          {
            tools: [
              {
                name: "Edit",
                input: {
                  file_path: workspacePath("a.ts"),
                  old_string: "b = 2",
                  new_string: "b = 22",
                },
              },
              {
                name: "Write",
                input: { file_path: workspacePath("new.txt"), content: "one\ntwo\n" },
              },
              { name: "Read", input: { file_path: workspacePath("dot.png") } },
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

export interface RecordedJob {
  record: JobRecord;
  lines: OutputLine[];
}

export interface RecordingFleet {
  fleet: FleetControl;
  recordJob(request: TriggerRequest): Promise<RecordedJob>;
}

/** A fleet whose agents run the script above with the real claude. */
export async function startRecordingFleet(version: ClaudeVersion = "325"): Promise<RecordingFleet> {
  const workspace = tempFolderWith({ "a.ts": "const a = 1;\nconst b = 2;\n" });
  writeFileSync(join(workspace, "dot.png"), Buffer.from(dotPng, "base64"));
  const harness = await startHarness({ script: script(workspace) });
  const file = writeFleetFile(harness, agents(workspace), "", claudeBinary(version));
  const fleet = await startFleetInProcess(harness, file);
  const record: RecordingFleet["recordJob"] = async (request) => {
    const { job } = await fleet.jobs.trigger({ ...request });
    await fleet.jobs.wait(job.id);
    return readRecordedJob(fleet, job.id);
  };
  return { fleet, recordJob: record };
}

export async function readRecordedJob(fleet: FleetControl, id: string): Promise<RecordedJob> {
  const found = await fleet.jobs.get(id);
  if (!found) throw new Error(`there is no job ${id}`);
  const lines: OutputLine[] = [];
  for await (const { message, offset } of fleet.jobs.output(id))
    lines.push({ message: { ...message }, offset });
  const approvals = await fleet.approvals.list({ job: id });
  const chain = await fleet.jobs.chain(id);
  const handedOn = chain.filter((one) => one.chain.parent === id);
  return { record: { ...found, approvals, delegatedJobs: handedOn }, lines };
}

export function storyOf(lines: readonly OutputLine[]): Transcript {
  const transcript = new Transcript();
  for (const line of lines) applyOutputLine(transcript, line);
  return transcript;
}

/** The lines as the output endpoint sends them. */
export function bytesOf(lines: readonly OutputLine[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

export function toolCalls({ tools }: Transcript): ToolEntry[] {
  return [...tools.values()];
}
