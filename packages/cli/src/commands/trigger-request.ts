import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { TriggerRequest } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";

/** What was typed, as a request. */
export async function requestOf(call: Call): Promise<TriggerRequest> {
  const { options } = call;
  const [agent, input] = call.arguments;
  if (agent === undefined) {
    throw new UserError("usage", "which agent?", { hint: 'herdctl trigger AGENT -p "…"' });
  }
  if (input !== undefined && input !== "-") {
    throw new UserError("usage", `\`${input}\` is not understood`, {
      hint: "Give the prompt with `-p`, a file with `-f`, or `-` to read it from standard input.",
    });
  }
  onlyOne(options.prompt, options.file, input, "Give one prompt: `-p`, `-f` or `-`.");
  onlyOne(options.resume, options.fork, undefined, "Either resume a session or fork it.");
  const prompt = await promptOf(call, input === "-");
  return {
    trigger: "manual",
    agent,
    prompt,
    ...(prompt !== undefined && { expand: true }),
    schedule: textOption(options, "schedule"),
    key: textOption(options, "key"),
    resume: textOption(options, "resume"),
    fork: textOption(options, "fork"),
    forkAt: textOption(options, "at"),
  };
}

function onlyOne(a: unknown, b: unknown, c: unknown, hint: string): void {
  if ([a, b, c].filter((one) => one !== undefined).length <= 1) return;
  throw new UserError("usage", "these options do not go together", { hint });
}

async function promptOf({ options, cwd }: Call, fromInput: boolean): Promise<string | undefined> {
  const file = textOption(options, "file");
  if (fromInput || file === "-") return text(process.stdin);
  if (file === undefined) return textOption(options, "prompt");
  const path = resolve(cwd, file);
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new UserError("file_unreadable", `${path} cannot be read`, { cause });
  }
}
