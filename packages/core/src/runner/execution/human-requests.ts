import type { ResolvedAgent } from "@herdctl/config";
import type { Question, Reply } from "@herdctl/protocol";
import { z } from "zod";
import type { PermissionAnswer, PermissionRequest } from "../contract/messages.ts";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import { answerElicitation } from "./elicitation.ts";

type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

export interface HumanHandlers {
  onPermission?: AskPermission;
  onQuestion?(question: Question, signal: AbortSignal): Promise<Reply>;
}

export interface HumanRequestRouting {
  /** Undefined if claude cannot ask anyone. */
  onPermission: AskPermission | undefined;
  /** Undefined if nobody can be asked; the requests of MCP servers are then cancelled. */
  onElicitation: ExecuteOptions["onElicitation"];
  /** Tools that claude only has because it can ask; to be denied. */
  deniedTools: readonly string[];
}

/**
 * Decides which of claude's requests go to a person. Permission requests do so only in the mode
 * `default`; questions and requests of MCP servers in every mode except `dontAsk`, where claude denies
 * questions itself.
 */
export function routeHumanRequests(
  { permission_mode, ask }: Pick<ResolvedAgent, "permission_mode" | "ask">,
  { onPermission, onQuestion }: HumanHandlers,
): HumanRequestRouting {
  const askPermission = permission_mode === "default" ? onPermission : undefined;
  if (permission_mode === "dontAsk" || (!askPermission && !onQuestion)) return noHumanRouting;
  return {
    onPermission: async (request, signal) => {
      if (request.tool !== questionTool)
        return askPermission
          ? await askPermission(request, signal)
          : deny("There is no person to ask for permission.");
      if (!onQuestion) return deny(formatNoReply({ why: "nobody" }));
      const expiresAt = new Date(Date.now() + ask.timeout);
      return askClaudeQuestions(request, expiresAt, (question) => onQuestion(question, signal));
    },
    onElicitation:
      onQuestion &&
      ((request, signal) =>
        answerElicitation(request, { timeoutMs: ask.timeout, signal, ask: onQuestion })),
    deniedTools: askPermission ? [] : planModeTools,
  };
}

const noHumanRouting: HumanRequestRouting = {
  onPermission: undefined,
  onElicitation: undefined,
  deniedTools: [],
};

/** A person must approve a plan; without one, the agent would stay in plan mode. */
const planModeTools = ["EnterPlanMode", "ExitPlanMode"];

function deny(message: string) {
  return { behavior: "deny" as const, message };
}

/** Claude Code's built-in tool to ask a person: one call with up to four questions. */
const questionTool = "AskUserQuestion";

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
async function askClaudeQuestions(
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

type NoReply = Extract<Reply, { kind: "none" }>;

/** The message to the model for a question without an answer. */
export function formatNoReply({ why, reason }: Pick<NoReply, "why" | "reason">): string {
  const reasonText = reason ? ` The reason given: ${reason}` : "";
  return `${reasons[why]}${reasonText} This is neither a yes nor a no: do only work that does not depend on the answer, and mention what is left open.`;
}

const reasons: Record<NoReply["why"], string> = {
  expired: "There was no answer in time.",
  declined: "A person declined to answer.",
  nobody: "There is no person to ask.",
  withdrawn: "The question was withdrawn before it was answered.",
};
