import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type TriggerRequest, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";

/** Builds the request from the command line. */
export async function parseTriggerRequest(context: CommandContext): Promise<TriggerRequest> {
  const { options } = context;
  const [agent, input] = context.arguments;
  if (agent === undefined) {
    throw new UserError("usage", "the name of the agent is missing", {
      hint: 'Run `herdctl trigger AGENT -p "…"`.',
    });
  }
  if (input !== undefined && input !== "-") {
    throw new UserError("usage", `\`${input}\` is not a valid argument`, {
      hint: "Give the prompt with `-p`, a file with `-f`, or `-` to read it from standard input.",
    });
  }
  assertAtMostOne(options.prompt, options.file, input, "Use only one of `-p`, `-f` and `-`.");
  assertAtMostOne(options.resume, options.fork, undefined, "Use either `--resume` or `--fork`.");
  const prompt = await readPrompt(context, input === "-");
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
  isFromStdin: boolean,
): Promise<string | undefined> {
  const file = textOption(options, "file");
  if (isFromStdin || file === "-") return text(process.stdin);
  if (file === undefined) return textOption(options, "prompt");
  const path = resolve(cwd, file);
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new UserError("file_unreadable", `${path} cannot be read`, { cause });
  }
}
