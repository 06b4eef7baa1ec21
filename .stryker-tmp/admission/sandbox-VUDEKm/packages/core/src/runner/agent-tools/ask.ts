import { duration } from "@herdctl/config";
import type { Question, Reply } from "@herdctl/protocol";
import { parseReply } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { formatNoReply } from "../execution/format-no-reply.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";

const lineSchema = z.string().trim().min(1);

const inputSchema = z.strictObject({
  question: lineSchema
    .max(4_000)
    .describe("One question, with everything a person needs to know to answer it"),
  choices: z
    .array(lineSchema.max(200))
    .min(2)
    .max(12)
    .refine((all) => new Set(all.map((choice) => choice.toLowerCase())).size === all.length, {
      error: "the choices must differ",
    })
    .optional()
    .describe("Answers to choose from; without choices, the answer is free text"),
  free_text: z
    .boolean()
    .optional()
    .describe("With choices: whether other answers are accepted as well (default: false)"),
  expires: duration
    .optional()
    .describe("How long to wait, such as 10m; the operator's limit still applies"),
  default: lineSchema
    .max(4_000)
    .optional()
    .describe("Answer to use if no person answers; it only counts if the operator allows it"),
});
type Input = z.output<typeof inputSchema>;

/** Asks a person. The call returns when there is an answer or the question expires. */
export function askTool({ order: { agent }, question }: AgentToolContext): AgentTool {
  return defineAgentTool({
    name: "ask",
    title: "Ask a person",
    description:
      "Asks a person and waits for the answer. Ask only what you cannot find out yourself and the work depends on: the answer may take long or never come.",
    input: inputSchema,
    async call(input, signal) {
      const problem = explainInvalidDefault(input);
      if (problem !== undefined) return refuse(problem);
      return toToolAnswer(await question(buildQuestion(input, agent.ask), signal));
    },
  });
}

function buildQuestion(
  input: Input,
  { timeout, use_default }: AgentToolContext["order"]["agent"]["ask"],
): Question {
  const { choices, default: defaultReply = null } = input;
  const timeoutMs = Math.min(input.expires ?? timeout, timeout);
  return {
    tool: "mcp__herd__ask",
    input,
    question: input.question,
    choices: choices?.map((label) => ({ label, description: null })) ?? null,
    free_text: choices === undefined || (input.free_text ?? false),
    multiple: false,
    default_reply: use_default ? defaultReply : null,
    expires_at: new Date(Date.now() + timeoutMs).toISOString(),
  };
}

/** Why the default is not a valid answer to the question; undefined if it is valid. */
function explainInvalidDefault({
  choices,
  free_text,
  default: defaultReply,
}: Input): string | undefined {
  if (defaultReply === undefined || choices === undefined || free_text) return undefined;
  const offered = choices.map((label) => ({ label, description: null }));
  try {
    parseReply({ choices: offered, free_text: false }, defaultReply);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function toToolAnswer(reply: Reply): ToolAnswer {
  if (reply.kind === "reply") return { text: `A person answered: ${reply.text}` };
  if (reply.kind === "default")
    return {
      text: `There was no answer in time. The operator allows your default instead: ${reply.text}`,
    };
  return refuse(formatNoReply(reply));
}
