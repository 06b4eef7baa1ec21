import { z } from "zod";
import { duration } from "../config/schema/quantities.ts";
import { noReplyText } from "../runner/no-reply.ts";
import { type Question, type Reply, readReply } from "../state/question.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdAnswer, type HerdTool, herdTool, refusal } from "./herd-tool.ts";

const line = z.string().trim().min(1);

const inputSchema = z.strictObject({
  question: line.max(4_000).describe("One question, with all that a person must know to answer it"),
  choices: z
    .array(line.max(200))
    .min(2)
    .max(12)
    .refine((all) => new Set(all.map((one) => one.toLowerCase())).size === all.length, {
      error: "the choices must differ",
    })
    .optional()
    .describe("Answers to choose from; without them the answer is free text"),
  free_text: z
    .boolean()
    .optional()
    .describe("With choices: whether another answer is taken as well (default: no)"),
  expires: duration
    .optional()
    .describe("How long to wait, such as 10m; at most as long as the operator allows"),
  default: line
    .max(4_000)
    .optional()
    .describe("Your proposal, should nobody answer; it counts only where the operator said so"),
});
type Input = z.output<typeof inputSchema>;

/** A question to a person. The call lasts until there is an answer, or the time is over. */
export function askTool({ order: { agent }, question }: HerdDoors): HerdTool {
  return herdTool({
    name: "ask",
    title: "Ask a person",
    description:
      "Asks a person and waits for the answer. Ask only what you cannot find out yourself and what the work depends on: it may take long, and nobody may be there.",
    input: inputSchema,
    async call(input, signal) {
      const unfit = whyDefaultIsUnfit(input);
      if (unfit !== undefined) return refusal(unfit);
      return told(await question(questionOf(input, agent.ask), signal));
    },
  });
}

function questionOf(
  input: Input,
  { expires, use_default }: HerdDoors["order"]["agent"]["ask"],
): Question {
  const { choices, default: proposal = null } = input;
  const within = Math.min(input.expires ?? expires, expires);
  return {
    tool: "mcp__herd__ask",
    input,
    question: input.question,
    choices: choices?.map((label) => ({ label, description: null })) ?? null,
    free_text: choices === undefined || (input.free_text ?? false),
    several: false,
    default_reply: use_default ? proposal : null,
    expires_at: new Date(Date.now() + within).toISOString(),
  };
}

/** Whoever is asked could not give it as an answer either. */
function whyDefaultIsUnfit({ choices, free_text, default: proposal }: Input): string | undefined {
  if (proposal === undefined || choices === undefined || free_text) return undefined;
  const offered = choices.map((label) => ({ label, description: null }));
  try {
    readReply({ choices: offered, free_text: false }, proposal);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function told(reply: Reply): HerdAnswer {
  if (reply.kind === "reply") return { text: `A person answered: ${reply.text}` };
  if (reply.kind === "default")
    return {
      text: `Nobody answered in time; by the operator's word your default counts: ${reply.text}`,
    };
  return refusal(noReplyText(reply));
}
