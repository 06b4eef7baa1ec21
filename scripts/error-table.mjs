import { markdownTable } from "./markdown-table.mjs";

/** Every error that a person can do something about. */
export function errorRows(errors) {
  const rows = Object.entries(errors).map(([code, { meaning, hint, exitCode, status }]) => [
    `\`${code}\``,
    meaning,
    hint,
    String(exitCode),
    String(status),
  ]);
  return markdownTable(["Code", "What it means", "What to do", "Exit code", "HTTP"], rows);
}

const exits = {
  success: "It went well; a job that was waited for succeeded.",
  jobFailed: "The job did not succeed; its outcome says why.",
  badInput: "Bad input or configuration: nothing ran.",
  unreachable: "Another fleet runs here, or none can be reached.",
  refused: "Refused, or the job was skipped.",
  bug: "A bug of ours. It prints its story; please report it.",
};

export function exitTable(exitCodes) {
  const rows = Object.entries(exitCodes).map(([name, code]) => [String(code), exits[name]]);
  return markdownTable(["Exit code", "What it means"], rows);
}
