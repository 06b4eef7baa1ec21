/** Rows of cells as a Markdown table. */
export function markdownTable(head, rows) {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(withoutBars).join(" | ")} |`).join("\n");
}

function withoutBars(cell) {
  return cell.replaceAll("|", "\\|");
}
