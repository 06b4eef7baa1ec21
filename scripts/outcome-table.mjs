import { markdownTable } from "./markdown-table.mjs";

/** What follows each kind of ending by itself, in the words of the page. */
const followed = {
  no: "no",
  backoff: "yes, after a pause",
  wait: "yes, when the limit ends",
  person: "no: the credential is paused until a person has seen to it",
};

const titles = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  skipped: "Skipped: nothing ran",
};

/** Every outcome by the status it ends in. */
export function outcomeTables(outcomes, codesByStatus) {
  return Object.entries(codesByStatus)
    .map(([status, codes]) => {
      const rows = codes.map((code) => {
        const { message, hint, retry } = outcomes[code];
        return [`\`${code}\``, message, followed[retry], hint];
      });
      const head = ["Outcome", "What it means", "Tried again", "What to do"];
      return `## ${titles[status]}\n\n${markdownTable(head, rows)}`;
    })
    .join("\n\n");
}
