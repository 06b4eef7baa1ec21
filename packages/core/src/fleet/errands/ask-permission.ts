import type { ErrandAnswer } from "../../state/errand.ts";
import { type Errand, refused } from "./errand.ts";

/** Puts before a person what an agent may not decide alone; undefined when it is allowed. */
export async function askPermission(
  { asked, approvals, signal }: Errand,
  why: string,
  details: Record<string, unknown> = {},
): Promise<ErrandAnswer | undefined> {
  const tool = `mcp__herd__${asked.kind}`;
  const input = { ...asked.input, ...details, why };
  const request = { toolUseId: asked.request_id, tool, input, description: why };
  const answer = await approvals.answer(request, signal);
  signal.throwIfAborted();
  return answer.behavior === "allow" ? undefined : refused(`${why} ${answer.message}`);
}
