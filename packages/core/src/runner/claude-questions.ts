import { z } from "zod";
import type { Question, Reply } from "../state/question.ts";
import { noReplyText } from "./no-reply.ts";
import type { PermissionAnswer, PermissionRequest } from "./runtime/permission.ts";

/** Claude Code's own way to ask a person: a tool call with up to four questions. */
export const questionTool = "AskUserQuestion";

const questionSchema = z.looseObject({
  question: z.string(),
  options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })),
  multiSelect: z.boolean().default(false),
});
const inputSchema = z.looseObject({ questions: z.array(questionSchema).min(1).max(10) });

/**
 * Puts each question before a person. The tool is allowed with the answers, by the text of their
 * questions; allowed without them it would say that the user did not answer. Unless all are
 * answered it is denied, and the model is told what was answered and what was not.
 */
export async function askClaudeQuestions(
  { input }: PermissionRequest,
  expiresAt: Date,
  ask: (question: Question) => Promise<Reply>,
): Promise<PermissionAnswer> {
  const read = inputSchema.safeParse(input);
  if (!read.success) return { behavior: "deny", message: "These questions cannot be read." };
  const { questions } = read.data;
  const replies = await Promise.all(questions.map((one) => ask(questionOf(one, expiresAt))));
  const told = questions.map(({ question }, at) => ({ question, reply: replies[at] ?? unasked }));
  const answers = Object.fromEntries(
    told.flatMap(({ question, reply }) => (reply.kind === "none" ? [] : [[question, reply.text]])),
  );
  if (told.every(({ reply }) => reply.kind !== "none"))
    return { behavior: "allow", updatedInput: { ...input, answers } };
  return { behavior: "deny", message: told.map(lineOf).join("\n") };
}

function questionOf(asked: z.infer<typeof questionSchema>, expiresAt: Date): Question {
  const { question, options, multiSelect } = asked;
  return {
    tool: questionTool,
    input: asked,
    question,
    choices: options.map(({ label, description = null }) => ({ label, description })),
    // Claude Code adds a choice of its own to each question: something else.
    free_text: true,
    several: multiSelect,
    default_reply: null,
    expires_at: expiresAt.toISOString(),
  };
}

const unasked: Reply = { kind: "none", why: "withdrawn" };

function lineOf({ question, reply }: { question: string; reply: Reply }): string {
  return `${question} ${reply.kind === "none" ? noReplyText(reply) : reply.text}`;
}
