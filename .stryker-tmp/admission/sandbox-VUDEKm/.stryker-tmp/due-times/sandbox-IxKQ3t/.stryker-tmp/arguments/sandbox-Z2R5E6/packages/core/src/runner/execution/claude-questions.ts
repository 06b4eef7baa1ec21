import type { Question, Reply } from "@herdctl/protocol";
import { z } from "zod";
import type { PermissionAnswer, PermissionRequest } from "../contract/permission.ts";
import { formatNoReply } from "./format-no-reply.ts";

/** Claude Code's built-in tool to ask a person: one call with up to four questions. */
export const questionTool = "AskUserQuestion";

const questionSchema = z.looseObject({
  question: z.string(),
  options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })),
  multiSelect: z.boolean().default(false),
});
const inputSchema = z.looseObject({ questions: z.array(questionSchema).min(1).max(10) });

/**
 * Asks a person each question. If all are answered, the tool is allowed with the answers, keyed by
 * question text; without them it would report that the user did not answer. Otherwise the tool is
 * denied with a message that lists answered and unanswered questions.
 */
export async function askClaudeQuestions(
  { input }: PermissionRequest,
  expiresAt: Date,
  ask: (question: Question) => Promise<Reply>,
): Promise<PermissionAnswer> {
  const parsed = inputSchema.safeParse(input);
  if (!parsed.success) return { behavior: "deny", message: "These questions cannot be read." };
  const { questions } = parsed.data;
  const replies = await Promise.all(questions.map((asked) => ask(toQuestion(asked, expiresAt))));
  const answered = questions.map(({ question }, index) => ({
    question,
    reply: replies[index] ?? unansweredReply,
  }));
  const answers = Object.fromEntries(
    answered.flatMap(({ question, reply }) =>
      reply.kind === "none" ? [] : [[question, reply.text]],
    ),
  );
  if (answered.every(({ reply }) => reply.kind !== "none"))
    return { behavior: "allow", updatedInput: { ...input, answers } };
  return { behavior: "deny", message: answered.map(formatAnswer).join("\n") };
}

function toQuestion(asked: z.infer<typeof questionSchema>, expiresAt: Date): Question {
  const { question, options, multiSelect } = asked;
  return {
    tool: questionTool,
    input: asked,
    question,
    choices: options.map(({ label, description = null }) => ({ label, description })),
    // Claude Code adds the choice "Other" to each question.
    free_text: true,
    multiple: multiSelect,
    default_reply: null,
    expires_at: expiresAt.toISOString(),
  };
}

const unansweredReply: Reply = { kind: "none", why: "withdrawn" };

function formatAnswer({ question, reply }: { question: string; reply: Reply }): string {
  return `${question} ${reply.kind === "none" ? formatNoReply(reply) : reply.text}`;
}
