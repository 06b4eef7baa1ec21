import { markdownTable } from "./markdown-table.mjs";

/** A table of all errors that a user can fix. */
export function errorRows(errors) {
  const rows = Object.entries(errors).map(([code, { meaning, hint, exitCode, status }]) => [
    `\`${code}\``,
    meaning,
    hint,
    String(exitCode),
    String(status),
  ]);
  return markdownTable(["Code", "Meaning", "What to do", "Exit code", "HTTP"], rows);
}

const exits = {
  success: "Success. If the command waited for a job, the job succeeded.",
  jobFailed: "The job did not succeed: see its outcome. Or a check found problems.",
  badInput: "Invalid input or configuration. Nothing ran.",
  unreachable: "Another fleet is already running here, or the fleet cannot be reached.",
  refused: "The request was refused, or the job was skipped.",
  bug: "A bug in herdctl. Please report it with the printed stack trace.",
};

export function exitTable(exitCodes) {
  const rows = Object.entries(exitCodes).map(([name, code]) => [String(code), exits[name]]);
  return markdownTable(["Exit code", "Meaning"], rows);
}
