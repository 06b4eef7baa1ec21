export { type Fence, newFence } from "./runner/fence.ts";
export { approvalSchema } from "./state/approval.ts";
export { dueRecordSchema } from "./state/due-time.ts";
export { attemptSchema, jobSchema, jobStatusSchema, triggerTypeSchema } from "./state/job.ts";
export { outcomeCodeSchema } from "./state/outcome.ts";
