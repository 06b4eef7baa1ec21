export { formatProblem, type Place, type Problem, ProblemsError } from "./document/problem.ts";
export { readDocument } from "./document/read.ts";
export { UserError } from "./errors/user-error.ts";
