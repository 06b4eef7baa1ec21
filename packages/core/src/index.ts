export { findFleetFile } from "./config/find.ts";
export { type JsonSchema, jsonSchema } from "./config/json-schema.ts";
export { type Fleet, type LoadedFleet, loadFleet } from "./config/load.ts";
export type { ResolvedAgent, WorkingDirectory } from "./config/resolve.ts";
export { type ShownConfig, type ShownValue, showConfig } from "./config/show.ts";
export { formatProblem, type Place, type Problem, ProblemsError } from "./document/problem.ts";
export { exitCodes } from "./errors/table.ts";
export { UserError } from "./errors/user-error.ts";
