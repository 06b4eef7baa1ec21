/** Options of every command that prints a page of a list. */
export const pageOptions = [
  { flags: "--limit <number>", summary: "Number of entries (default: 20)" },
  { flags: "--cursor <cursor>", summary: "Continue after the previous page" },
];
