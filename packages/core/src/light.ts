export { findFleetFile, stateDirOf } from "./config/find.ts";
export { type Problem, ProblemsError } from "./document/problem.ts";
export { type ErrorCode, errorTable, exitCodes } from "./errors/table.ts";
export { UserError } from "./errors/user-error.ts";
export { eventsOf } from "./runner/job-event.ts";
export { outcomes } from "./runner/outcomes.ts";
export { isFinished, jobStatuses } from "./state/job-status.ts";
