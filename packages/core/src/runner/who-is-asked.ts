import type { ResolvedAgent } from "../config/resolve.ts";
import type { Question, Reply } from "../state/question.ts";
import { askClaudeQuestions, questionTool } from "./claude-questions.ts";
import { noReplyText } from "./no-reply.ts";
import type { ExecuteOptions } from "./runtime/interface.ts";

type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

export interface People {
  onPermission?: AskPermission;
  onQuestion?(question: Question, signal: AbortSignal): Promise<Reply>;
}

export interface Asking {
  /** Undefined when claude is to ask nobody anything. */
  onPermission: AskPermission | undefined;
  /** Tools that claude has only because it may ask. */
  denied: readonly string[];
}

/**
 * Which of claude's requests reach a person. For the use of a tool that is so in one mode only; its
 * questions come through in all modes but `dontAsk`, in which claude denies them itself.
 */
export function whoIsAsked(
  { permission_mode, ask }: Pick<ResolvedAgent, "permission_mode" | "ask">,
  { onPermission, onQuestion }: People,
): Asking {
  const permit = permission_mode === "default" ? onPermission : undefined;
  if (permission_mode === "dontAsk" || (!permit && !onQuestion)) return nobody;
  return {
    onPermission: async (request, signal) => {
      if (request.tool !== questionTool)
        return permit
          ? await permit(request, signal)
          : denial("Nobody can be asked for permission.");
      if (!onQuestion) return denial(noReplyText({ why: "nobody" }));
      const expiresAt = new Date(Date.now() + ask.expires);
      return askClaudeQuestions(request, expiresAt, (question) => onQuestion(question, signal));
    },
    denied: permit ? [] : planTools,
  };
}

const nobody: Asking = { onPermission: undefined, denied: [] };

/** A plan is approved by a person; without one an agent would stay in the mode for planning. */
const planTools = ["EnterPlanMode", "ExitPlanMode"];

function denial(message: string) {
  return { behavior: "deny" as const, message };
}
