import type { ResolvedAgent } from "@herdctl/config";
import type { Question, Reply } from "@herdctl/protocol";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import { askClaudeQuestions, questionTool } from "./claude-questions.ts";
import { formatNoReply } from "./format-no-reply.ts";

type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

export interface HumanHandlers {
  onPermission?: AskPermission;
  onQuestion?(question: Question, signal: AbortSignal): Promise<Reply>;
}

export interface HumanRequestRouting {
  /** Undefined if claude cannot ask anyone. */
  onPermission: AskPermission | undefined;
  /** Tools that claude only has because it can ask; to be denied. */
  deniedTools: readonly string[];
}

/**
 * Decides which of claude's requests go to a person. Permission requests do so only in the mode
 * `default`; questions in every mode except `dontAsk`, where claude denies them itself.
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
    deniedTools: askPermission ? [] : planModeTools,
  };
}

const noHumanRouting: HumanRequestRouting = { onPermission: undefined, deniedTools: [] };

/** A person must approve a plan; without one, the agent would stay in plan mode. */
const planModeTools = ["EnterPlanMode", "ExitPlanMode"];

function deny(message: string) {
  return { behavior: "deny" as const, message };
}
