import type { TokenUsage } from "../token-usage.ts";
import type { FileResultMessage } from "./message-types.ts";
import type { Transcript, TurnState } from "./transcript.ts";

type ResultFields = Pick<
  FileResultMessage,
  "subtype" | "is_error" | "api_error_status" | "result" | "errors"
>;

/** Builds the result that stdout would have had from the transcript. */
export function synthesiseResult(
  transcript: Transcript,
  uuid: string,
): FileResultMessage | undefined {
  const resultFields = resultFieldsByTurn[transcript.turn]?.(transcript);
  if (resultFields === undefined || transcript.sessionId === undefined) return undefined;
  const { firstAt = 0, lastAt = 0 } = transcript;
  const cost = transcript.cost?.current ? transcript.cost : undefined;
  return {
    type: "result",
    ...resultFields,
    herdctl_synthesised: true,
    uuid,
    session_id: transcript.sessionId,
    stop_reason: transcript.stopReason,
    num_turns: transcript.turnLimit?.turnCount ?? transcript.toolResults + 1,
    duration_ms: lastAt - firstAt,
    duration_api_ms: cost?.apiDurationMs,
    usage: transcript.usage,
    total_cost_usd: cost?.totalCostUsd,
    modelUsage: cost?.modelUsage ?? tokensByModel(transcript.usageByModel),
  };
}

/** An open turn has no result, as on stdout. */
const resultFieldsByTurn: Partial<Record<TurnState, (transcript: Transcript) => ResultFields>> = {
  finished: ({ lastText }) => ({
    subtype: "success",
    is_error: false,
    api_error_status: null,
    result: lastText,
  }),
  api_error: ({ lastText, apiErrorStatus }) => ({
    subtype: "success",
    is_error: true,
    api_error_status: apiErrorStatus ?? null,
    result: lastText,
  }),
  max_turns: ({ turnLimit }) => ({
    subtype: "error_max_turns",
    is_error: true,
    errors: [`Reached maximum number of turns (${turnLimit?.maxTurns ?? "unknown"})`],
  }),
  interrupted: () => ({
    subtype: "error_during_execution",
    is_error: true,
    errors: ["Request interrupted"],
  }),
};

function tokensByModel(usage: Record<string, TokenUsage>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(usage).map(([model, counts]) => [
      model,
      {
        inputTokens: counts.input_tokens,
        outputTokens: counts.output_tokens,
        cacheReadInputTokens: counts.cache_read_input_tokens,
        cacheCreationInputTokens: counts.cache_creation_input_tokens,
      },
    ]),
  );
}
