import { UserError } from "@herdctl/protocol";
import { type ToolCall, toolCallRefused } from "../../jobs/attempts/tool-call.ts";
import { waitForAbort } from "../../lib/timeout.ts";
import type { ToolCallAnswer, ToolCallKind } from "../../store/model/tool-call.ts";
import type { FleetServices } from "../services.ts";
import { handleDelegateCall } from "./delegate.ts";
import { handleScheduleCall } from "./schedule.ts";

const handlers: Record<
  ToolCallKind,
  (services: FleetServices, call: ToolCall) => Promise<ToolCallAnswer>
> = {
  delegate: handleDelegateCall,
  schedule: handleScheduleCall,
};

/** The answer to a tool call; undefined if the next fleet process must give it. */
export async function handleToolCall(
  services: FleetServices,
  call: ToolCall,
): Promise<ToolCallAnswer | undefined> {
  const { signal, stopping, request } = call;
  await Promise.race([services.dispatcher.opened, waitForAbort(signal)]);
  // A fleet that accepts no more work leaves the call to the next process.
  if (!services.dispatcher.isOpen || signal.aborted || stopping.aborted) return undefined;
  try {
    return await handlers[request.kind](services, call);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof UserError) return toolCallRefused(`${error.message}. ${error.hint}`);
    services.reportError(`Failed to handle a tool call of ${call.jobId}`, error);
    return toolCallRefused("The fleet could not do this.");
  }
}
