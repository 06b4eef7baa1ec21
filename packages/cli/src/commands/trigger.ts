import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type TriggerRequest, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findFleet } from "../find-fleet.ts";
import { readStoreUrl } from "../read-store-url.ts";
import { triggerRunningFleet } from "../trigger-running-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const request = await parseTriggerRequest(context);
  const fleet = await findFleet(context);
  if (!fleet) return triggerWithoutFleet(context, request);
  try {
    return await triggerRunningFleet(context, fleet, request);
  } finally {
    fleet.close();
  }
}

/** Starts the runner process first: it starts up while the fleet is loaded. */
async function triggerWithoutFleet(
  context: CommandContext,
  request: TriggerRequest,
): Promise<number> {
  if ((await readStoreUrl(context)) !== undefined) throw noLocalNodeError();
  const { RunnerPool } = await import("@herdctl/core/internal");
  const runnerPool = new RunnerPool();
  try {
    const { triggerStandalone } = await import("../trigger-standalone.ts");
    return await triggerStandalone(context, request, runnerPool);
  } finally {
    await runnerPool.stop();
  }
}

/** Without a local node, the job would wait in the shared queue, possibly forever. */
function noLocalNodeError(): UserError {
  return new UserError(
    "fleet_unreachable",
    "this fleet has a shared store, and no node of it is running on this machine",
    {
      hint: "Start a node with `herdctl start --detach`, or run the command on a machine with a node.",
    },
  );
}

/** Builds the request from the command line. */
export async function parseTriggerRequest(context: CommandContext): Promise<TriggerRequest> {
  const { options } = context;
  const [agent, input] = context.arguments;
  if (agent === undefined) {
    throw new UserError("usage", "the name of the agent is missing", {
      hint: 'Run `herdctl trigger AGENT "…"`.',
    });
  }
  assertAtMostOne(
    options.prompt,
    options.file,
    input,
    "Give the prompt once: as the second argument, with `-p`, with `-f`, or `-` for standard input.",
  );
  assertAtMostOne(options.resume, options.fork, undefined, "Use either `--resume` or `--fork`.");
  const prompt = await readPrompt(context, input);
  return {
    agent,
    prompt,
    ...(prompt !== undefined && { expand: true }),
    schedule: textOption(options, "schedule"),
    key: textOption(options, "key"),
    resume: textOption(options, "resume"),
    fork: textOption(options, "fork"),
    forkPoint: textOption(options, "at"),
  };
}

function assertAtMostOne(a: unknown, b: unknown, c: unknown, hint: string): void {
  if ([a, b, c].filter((one) => one !== undefined).length <= 1) return;
  throw new UserError("usage", "these options cannot be combined", { hint });
}

async function readPrompt(
  { options, cwd }: CommandContext,
  input: string | undefined,
): Promise<string | undefined> {
  const file = textOption(options, "file");
  if (input === "-" || file === "-") return text(process.stdin);
  if (file === undefined) return input ?? textOption(options, "prompt");
  const path = resolve(cwd, file);
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new UserError("file_unreadable", `${path} cannot be read`, { cause });
  }
}
