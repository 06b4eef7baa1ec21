import { type Block, blocksOf, type RequestBody, resultText, textsOf } from "./body.ts";

/** One question to the model: everything up to here, and what is new since its last answer. */
export interface Moment {
  /** The prompt in force: the last text that a person or a program wrote to the model. */
  prompt: string;
  /** How many prompts the conversation has had. */
  promptNumber: number;
  /** Answers given since that prompt. */
  step: number;
  /** The number that the answer to this moment has in the conversation, from 1. */
  turn: number;
  /** Tool results that came since the last answer. */
  toolResults: string;
}

export interface Conversation {
  system: string;
  /** The moments that were answered, oldest first. */
  past: Moment[];
  /** The moment that waits for an answer. */
  now: Moment;
  /** Blocks since the prompt in force, the prompt's own message included. */
  sincePrompt: Block[];
}

/**
 * The conversation as the request tells it. Nothing about it is kept between requests, so that a
 * retried request gets the answer it got before, and a resumed or forked session fits in.
 */
export function readConversation(body: RequestBody): Conversation {
  const past: Moment[] = [];
  let now: Moment = { prompt: "", promptNumber: 0, step: 0, turn: 1, toolResults: "" };
  let sincePrompt: Block[] = [];
  let previous = "";
  for (const { role, content } of body.messages) {
    const blocks = blocksOf(content);
    if (role === "assistant" && previous !== "assistant") {
      past.push(now);
      now = { ...now, step: now.step + 1, turn: now.turn + 1, toolResults: "" };
    }
    if (role === "user") {
      const prompt = promptText(blocks);
      if (prompt !== "") {
        now = { ...now, prompt, promptNumber: now.promptNumber + 1, step: 0 };
        sincePrompt = [];
      }
      now = {
        ...now,
        toolResults: joinLines(now.toolResults, ...blocks.filter(isResult).map(resultText)),
      };
    }
    sincePrompt.push(...blocks);
    previous = role;
  }
  const system = [...textsOf(body.system), ...systemTurns(body)].join("\n");
  return { system, past, now, sincePrompt };
}

/** The harness writes its own notes into user messages; they are not what was asked. */
const harnessNotes = /<(system-reminder|local-command-[a-z]+)>[\s\S]*?<\/\1>/g;

function promptText(blocks: Block[]): string {
  const texts = blocks.filter((block) => block.type === "text").map((block) => block.text ?? "");
  return texts
    .map((text) => text.replace(harnessNotes, "").trim())
    .filter(Boolean)
    .join("\n");
}

function isResult(block: Block): boolean {
  return block.type === "tool_result";
}

function joinLines(...texts: string[]): string {
  return texts.filter(Boolean).join("\n");
}

function systemTurns(body: RequestBody): string[] {
  return body.messages
    .filter((message) => message.role === "system")
    .flatMap((message) => textsOf(message.content));
}
