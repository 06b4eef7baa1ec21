/** Rows of cells as a Markdown table. */
export function markdownTable(head, rows) {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(escapeBars).join(" | ")} |`).join("\n");
}

function escapeBars(cell) {
  return cell.replaceAll("|", "\\|");
}
