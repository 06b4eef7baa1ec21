import {
  type Block,
  extractTexts,
  type RequestBody,
  toBlocks,
  toolResultText,
} from "./request-body.ts";

/** One call to the model. */
export interface ModelCall {
  /** The current prompt: the last text that a user or program sent to the model. */
  prompt: string;
  /** The number of prompts so far. */
  promptNumber: number;
  /** The number of responses since that prompt. */
  step: number;
  /** The number of the response to this call in the conversation, starting at 1. */
  turn: number;
  /** The tool results since the last response. */
  toolResults: string;
}

export interface Conversation {
  system: string;
  /** Calls that already have a response, oldest first. */
  pastCalls: ModelCall[];
  /** The call to respond to. */
  currentCall: ModelCall;
  /** Blocks since the current prompt, including the prompt's message. */
  sincePrompt: Block[];
}

/**
 * Reads the conversation from a request. No state is kept between requests, so a retried request gets
 * the same response, and resumed and forked sessions work.
 */
export function readConversation(body: RequestBody): Conversation {
  const pastCalls: ModelCall[] = [];
  let currentCall: ModelCall = { prompt: "", promptNumber: 0, step: 0, turn: 1, toolResults: "" };
  let sincePrompt: Block[] = [];
  let previous = "";
  for (const { role, content } of body.messages) {
    const blocks = toBlocks(content);
    if (role === "assistant" && previous !== "assistant") {
      pastCalls.push(currentCall);
      currentCall = {
        ...currentCall,
        step: currentCall.step + 1,
        turn: currentCall.turn + 1,
        toolResults: "",
      };
    }
    if (role === "user") {
      const prompt = extractPrompt(blocks);
      if (prompt !== "") {
        currentCall = {
          ...currentCall,
          prompt,
          promptNumber: currentCall.promptNumber + 1,
          step: 0,
        };
        sincePrompt = [];
      }
      currentCall = {
        ...currentCall,
        toolResults: joinLines(
          currentCall.toolResults,
          ...blocks.filter(isToolResult).map(toolResultText),
        ),
      };
    }
    sincePrompt.push(...blocks);
    previous = role;
  }
  const system = [...extractTexts(body.system), ...systemMessageTexts(body)].join("\n");
  return { system, pastCalls, currentCall, sincePrompt };
}

/** Notes that Claude Code adds to user messages; they are not part of the prompt. */
const harnessNotePattern = /<(system-reminder|local-command-[a-z]+)>[\s\S]*?<\/\1>/g;

function extractPrompt(blocks: Block[]): string {
  const texts = blocks.filter((block) => block.type === "text").map((block) => block.text ?? "");
  return texts
    .map((text) => text.replace(harnessNotePattern, "").trim())
    .filter(Boolean)
    .join("\n");
}

function isToolResult(block: Block): boolean {
  return block.type === "tool_result";
}

function joinLines(...texts: string[]): string {
  return texts.filter(Boolean).join("\n");
}

function systemMessageTexts(body: RequestBody): string[] {
  return body.messages
    .filter((message) => message.role === "system")
    .flatMap((message) => extractTexts(message.content));
}
