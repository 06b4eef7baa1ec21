import { markdownTable } from "./markdown-table.mjs";

const retryTexts = {
  no: "no",
  backoff: "yes, after a delay",
  wait: "yes, when the limit resets",
  person: "no, the credential is paused until a person resumes it",
};

const titles = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  skipped: "Skipped: nothing ran",
};

/** One table of outcomes per final status. */
export function outcomeTables(outcomes, codesByStatus) {
  return Object.entries(codesByStatus)
    .map(([status, codes]) => {
      const rows = codes.map((code) => {
        const { message, hint, retry } = outcomes[code];
        return [`\`${code}\``, message, retryTexts[retry], hint];
      });
      const head = ["Outcome", "Meaning", "Retried", "What to do"];
      return `## ${titles[status]}\n\n${markdownTable(head, rows)}`;
    })
    .join("\n\n");
}
